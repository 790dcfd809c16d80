/*
 * The story: somebody asks who may do what on this router at this moment, and what another configuration
 * would change. What breaks for whom: an operator who reads that a right is gone when somebody was lent
 * it an hour ago, or puts a configuration in force that turns away what agents do all day.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { Participant } from './lib/participant.mjs';
import { ends, mcpxctl } from './lib/program.mjs';
import { person as entry, Router, signToken, tokenOf } from './lib/router.mjs';

const SECRET = 'a secret that is long enough to be one, and only for this test';
const person = (name, grants, more) => entry(name, grants, { topics: ['room*'], ...more });
const chief = entry('chief', ['admin/*', 'mcp/*', 'chat']);

/** A router with these people and an administrator, and `ctl`, which runs mcpxctl as one of them. */
async function start(t, people, config = {}) {
  const router = await Router.startFor(t, { config: { auth: { jwt: { secret: SECRET } }, ...config,
    participants: { chief, ...people } } });
  const folder = folderFor(t);
  const ctl = (name, ...words) => run(router.url, folder, tokenOf(name), words);
  return { router, folder, ctl };
}

const run = (url, folder, token, words) => mcpxctl(words, { cwd: folder,
  env: { MCPX_URL: url.replace(/^http/, 'ws'), MCPX_TOKEN: token, XDG_CONFIG_HOME: folder } });

test('policy show tells what is configured, and what was changed at run time as such', async (t) => {
  const { router, ctl } = await start(t, {
    bob: person('bob', ['chat', { kind: 'mcp/request:ping', to: ['fs'] }],
      { profile: 'reader', jwt: 'accepted', topics: ['room-1', 'room-2'] }) },
  { profiles: { reader: { grants: ['mcp/response:*'], deny: ['mcp/request:tools/call:rm'] } } });
  const guest = await Participant.join(router, { topic: 'room-1',
    token: signToken(SECRET, { participantId: 'guest', topic: 'room-1', capabilities: ['chat'] }) });
  t.after(() => guest.close());
  const change = async (id, body) => {
    const answer = await router.request('POST', `/admin/participants/${id}/capabilities`,
      { token: tokenOf('chief'), body: { topic: 'room-1', ...body } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.changes;
  };
  const [lent] = await change('bob', { add: ['mcp/notification:*'], until: 600 });
  await change('guest', { remove: ['chat'] });

  const told = await ends(ctl('chief', 'policy', 'show'));
  const { json: policy } = await router.request('GET', '/admin/policy', { token: tokenOf('chief') });
  assert.equal(told.stdout, `policy ${policy.rev}
profile reader
  grants  mcp/response:*
  denied  mcp/request:tools/call:rm
participant bob
  topics  room-1, room-2
  grants  mcp/response:*, chat, {"kind":"mcp/request:ping","to":["fs"]}
  denied  mcp/request:tools/call:rm
  signed tokens are accepted
  changed at run time in room-1
    add mcp/notification:*  until ${lent.until}  by chief
participant chief
  topics  *
  grants  admin/*, mcp/*, chat
participant guest, not in the configuration, connections: 1
  changed at run time in room-1
    remove chat  by chief
`);
  const json = JSON.parse((await ctl('chief', 'policy', 'show', '--json')).stdout);
  assert.equal(json.rev, policy.rev);
  assert.deepEqual(json.profiles, policy.profiles);
  const bob = json.participants.find(({ id }) => id === 'bob');
  const { id, ...entry } = policy.participants.find((each) => each.id === 'bob');
  assert.deepEqual(bob.configured, entry);
  assert.deepEqual(bob.changed, [{ topic: 'room-1', changes: [lent] }]);
});

test('policy show reads page after page, and needs a grant', async (t) => {
  const names = Array.from({ length: 2100 }, (_, i) => `agent+${String(i).padStart(4, '0')}&`);
  const { ctl } = await start(t, Object.fromEntries(names.map((name) => [name, person(name, ['chat'])])));
  const told = await ends(ctl('chief', 'policy', 'show'));
  assert.deepEqual([...told.stdout.matchAll(/^participant (.*)$/gm)].map(([, id]) => id), [...names, 'chief']);
  assert.equal((await ends(ctl(names[7], 'policy', 'show'), 3, /admin\/read/)).stdout, '');
  for (const [words, why] of [[['show', 'router.json'], /takes no file/], [['shew'], /needs show\|diff as/],
    [['diff', 'router.json'], /OLD and NEW/]]) {
    await ends(ctl('chief', 'policy', ...words), 2, why);
  }
});

test('policy diff tells who gains and loses what between two files, as a reload would', async (t) => {
  const people = { ann: person('ann', ['chat', 'mcp/*']), bob: person('bob', ['chat']) };
  const { router, folder, ctl } = await start(t, people);
  const put = (name, config) => writeFileSync(join(folder, name), JSON.stringify(config));
  const old = { auth: { jwt: { secret: SECRET } }, participants: { chief, ...people } };
  const next = { ...old, limits: { ping_s: 20 }, participants: { chief,
    ann: person('ann', ['chat'], { deny: ['x/*'] }), eve: person('eve', ['chat']) } };
  put('old.json', old);
  put('new.json', next);
  const same = await ends(ctl('chief', 'policy', 'diff', 'old.json', 'old.json'),
    0, /^participants: 0 added, 0 removed, 0 changed$/m);

  const told = await ends(ctl('chief', 'policy', 'diff', 'old.json', 'new.json', '--json'), 1);
  const { restart, ...answer } = JSON.parse(told.stdout);
  assert.deepEqual(restart, []);
  assert.deepEqual(answer.participants, { added: 1, removed: 1, changed: 1 });
  router.configure(next);
  const reload = await router.reload(tokenOf('chief'));
  assert.deepEqual({ ...reload.json, warnings: [] }, { ...answer, warnings: [] }, 'the router says the same');

  const shown = await ends(ctl('chief', 'policy', 'diff', 'old.json', 'new.json'), 1);
  assert.equal(shown.stdout, `policy ${answer.rev}, was ${answer.was}
participants: 1 added, 1 removed, 1 changed
changed: participant ann
  - mcp/*
  - denied: x/*
removed: participant bob
  - topic room*
  - chat
added: participant eve
  + topic room*
  + chat
setting /limits/ping_s: 25 -> 20
`);
  put('moved.json', { ...old, listen: ['127.0.0.1:1'] });
  await ends(ctl('chief', 'policy', 'diff', 'old.json', 'moved.json'),
    1, /^setting \/listen.*which takes a restart of the router$/m);
  assert.equal((await ctl('chief', 'policy', 'diff', 'old.json', 'absent.json')).code, 2);
});

test('policy diff --history tells what the messages of a topic would meet', async (t) => {
  const people = { ann: person('ann', ['chat', 'mcp/request:*']), fs: person('fs', ['mcp/response:*']),
    bob: person('bob', ['x/note']) };
  const { router, folder, ctl } = await start(t, people);
  const join = async (name, more) => {
    const who = await Participant.join(router, { topic: 'room-1', token: tokenOf(name), ...more });
    t.after(() => who.close());
    return who;
  };
  const lent = await router.request('POST', '/admin/participants/bob/capabilities',
    { token: tokenOf('chief'), body: { topic: 'room-1', add: ['chat'] } });
  assert.equal(lent.status, 200, lent.text);
  const [ann, desk, fs, bob, guest] = await Promise.all([join('ann'), join('ann', { query: { instance: 'auto' } }),
    join('fs'), join('bob'), join('guest', { token: signToken(SECRET,
      { participantId: 'guest', topic: 'room-1', capabilities: ['chat'] }) })]);
  const said = async (who, kind, more) => {
    const id = who.send(kind, {}, more);
    await who.until((envelope) => envelope.id === id && envelope.kind !== 'system/error', 'the echo');
  };
  await said(ann, 'chat', { id: 'm1', ts: '1999-01-01T00:00:00Z' });
  await said(ann, 'mcp/request:tools/call:read', { id: 'q1', to: ['fs'] });
  await said(fs, 'mcp/response:tools/call', { id: 'a1', to: ['ann'], correlation_id: 'q1' });
  await said(ann, 'chat', { id: 'm2' });
  await said(desk, 'chat', { id: 'm3' });
  await said(bob, 'chat', { id: 'm4' });
  await said(guest, 'chat', { id: 'm5' });
  const put = (name, changed) => writeFileSync(`${folder}/${name}`, JSON.stringify({
    auth: { jwt: { secret: SECRET } }, participants: { chief, ...people, ...changed } }));
  put('old.json', {});
  put('new.json', { ann: person('ann', [{ kind: 'chat', expires: '2000-01-01T00:00:00Z' }, 'mcp/request:*']),
    fs: person('fs', ['mcp/response:*'], { deny: ['mcp/response:tools/call:read'] }),
    bob: person('bob', ['chat']) });
  put('away.json', { ann: person('ann', ['chat', 'mcp/request:*'], { topics: ['hall'] }) });
  const ask = (next, ...words) => ctl('ann', 'policy', 'diff', 'old.json', next, '--history',
    '--topic', 'room-1', ...words);

  const same = await ends(ask('old.json'));
  assert.equal(same.stdout, '0 of 6 decisions would be different\n'
    + '1 more are by participants of neither configuration, and not judged\n'
    + '1 were recorded otherwise than the old configuration decides\n');
  const told = await ends(ask('new.json', '--json'), 1);
  const of = (participant, kind, was, now, count, id, to = []) =>
    ({ was, now, participant, topic: 'room-1', kind, to, count, id });
  assert.deepEqual(told.stdout.trim().split('\n').map((text) => JSON.parse(text)), [
    of('bob', 'chat', 'no_matching_grant', 'allowed', 1, 'm4'),
    of(desk.id, 'chat', 'allowed', 'grant_expired', 1, 'm3'),
    of('ann', 'chat', 'allowed', 'grant_expired', 2, 'm2'),
    of('fs', 'mcp/response:tools/call:read', 'allowed', 'denied', 1, 'a1', ['ann']),
    { judged: 6, different: 5, unjudged: 1, otherwise: 1 },
  ]);
  await ends(ask('away.json'),
    1, /^refused now: ann {2}chat in room-1\n {2}was {2}allowed\n {2}now {2}forbidden\n {2}2 times, last in m2$/m);

  for (const [why, ...words] of [[/not both/, 'new.json', '--audit', '.'], [/absent\.json/, 'absent.json']]) {
    assert.equal((await ends(ask(...words), 2, why)).stdout, '');
  }
  await ends(ctl('nobody', 'policy', 'diff', 'old.json', 'new.json', '--history', '--topic', 'room-1'), 5);
  assert.equal((await ctl('chief', 'policy', 'show', '--history')).code, 2);
  assert.equal((await ctl('chief', 'policy', 'diff', 'old.json', 'new.json', '--timeout', '3')).code, 2);
});

/** Answers each page of a history with what `page(before)` gives: an object, or text; or not at all. */
async function historian(t, page) {
  const server = createServer((request, response) => {
    const answer = page(new URL(request.url, 'http://x').searchParams.get('before'));
    if (!answer) return;
    response.statusCode = answer.status ?? 200;
    if (answer.retry) response.setHeader('retry-after', answer.retry);
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  t.after(() => { server.closeAllConnections(); server.close(); });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = folderFor(t);
  for (const [name, grants] of [['old', ['chat', 'x/*']], ['new', ['chat']]]) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ participants: { ann: person('ann', grants) } }));
  }
  const ask = (...words) => run(`http://127.0.0.1:${server.address().port}`, folder, tokenOf('ann'),
    ['policy', 'diff', 'old.json', 'new.json', '--history', '--topic', 'room-1', ...words]);
  return { ask };
}

const envelope = (id, kind, more) => ({ protocol: 'mcpx/v0.1', id, from: 'ann', kind, payload: {}, ...more });

test('a history of 100,000 messages, each of its own kind, takes no more memory than another', async (t) => {
  const PAGES = 100, PAGE = 1000;
  const high = []; /* its memory as it asks for each page */
  let child;
  const { ask } = await historian(t, (before) => {
    const page = before === null ? 0 : Number(before.split('-')[0]) + 1;
    high.push(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]));
    const history = Array.from({ length: PAGE }, (_, i) => envelope(`${page}-${i}`,
      `x/${page}-${i}-${'long'.repeat(200)}`, { surprise: [page], payload: { kind: 'chat' } }));
    return { history, more: 'unknown', ...(page < PAGES - 1 && { next: history.at(-1).id }) };
  });
  const asked = ask('--json');
  child = asked.child;
  const told = await ends(asked, 1);
  const lines = told.stdout.trim().split('\n').map((text) => JSON.parse(text));
  const { unlisted, ...sums } = lines.pop();
  assert.deepEqual(sums, { judged: PAGES * PAGE, different: PAGES * PAGE, unjudged: 0, otherwise: 0 });
  assert.equal(lines.length + unlisted, PAGES * PAGE);
  assert.ok(lines.length > 10000, `${lines.length} are listed`);
  assert.equal(lines[0].id, '0-0');
  if (!process.env.ASAN_OPTIONS) {
    const grown = high.at(-1) - high[PAGES / 4];
    assert.ok(grown < 4 * 1024, `mcpxctl has grown by ${grown} KiB`);
  }
});

test('a history that is none is an error, never a difference', async (t) => {
  const good = JSON.stringify(envelope('m1', 'x/a'));
  const cases = [
    ['<html>', /cannot be read/],
    ['{"messages":[]}', /cannot be read/],
    ['{"history":[{}]}', /cannot be read/],
    [`{"history":[${good.replace('"kind"', '"kind":"chat","kind"')}]}`, /cannot be read/],
    [`{"history":[${good}],"next":"m1"}`, /cannot be read/], /* the same page for ever */
  ];
  for (const [text, why] of cases) {
    const { ask } = await historian(t, () => text);
    assert.equal((await ends(ask(), 2, why, text)).stdout, '', text);
  }
  const { ask: failing } = await historian(t, (before) => (before ? { status: 500, detail: 'no disk' }
    : { history: [JSON.parse(good)], next: 'm1' }));
  const half = await ends(failing(), 2);
  assert.equal(half.stdout, '');
  assert.equal(half.stderr.match(/no disk/g).length, 1, half.stderr);
  const { ask } = await historian(t, () => `{"history":[${good},${good}]}`);
  const twice = await ends(ask('--json'), 1);
  assert.deepEqual(JSON.parse(twice.stdout.trim().split('\n').at(-1)),
    { judged: 2, different: 2, unjudged: 0, otherwise: 0 });
});

test('no history takes longer than --timeout, however it goes on', async (t) => {
  const full = (page) => ({ history: Array.from({ length: 3 }, (_, i) => envelope(`${page}-${i}`, 'x/a')), next: `${page}-2` });
  const next = (before) => (before === null ? 0 : Number(before.split('-')[0]) + 1);
  const late = /the history did not come in time, only [1-9]\d* messages of it; a longer --timeout may help/;
  for (const [name, page, wanted, why] of [
    ['ever more pages', (before) => full(next(before)), 124, late],
    ['a page that does not come', (before) => (before === null ? full(0) : undefined), 124, late],
    ['one pause after the other', (before) => (before === null ? full(0) : { status: 429, retry: 1, detail: 'too many' }),
      2, /the router answers 429: too many/],
  ]) {
    const { ask } = await historian(t, page);
    const began = performance.now();
    assert.equal((await ends(ask('--timeout', '2'), wanted, why, name)).stdout, '', name);
    assert.ok(performance.now() - began < 20000, `${name}: ${performance.now() - began} ms`);
  }
  const { ask } = await historian(t, () => ({ history: [envelope('m1', 'chat')] }));
  assert.equal((await ask('--timeout', '0')).code, 0);
});

test('what leaves the history while it is read, and who has no name, is passed over', async (t) => {
  const { from, ...nameless } = envelope('m0', 'x/a');
  const { ask } = await historian(t, (before) => (before
    ? { status: 404, code: 'not_found', detail: 'gone' }
    : { history: [envelope('m2', 'x/a', { to: ['bob', 'c'] }), nameless, envelope('m1', 'x/a')], next: 'm1' }));
  const { stdout, stderr } = await ends(ask(), 1);
  assert.equal(stderr, '');
  assert.match(stdout, /^refused now: ann {2}x\/a to bob, c in room-1$/m);
  assert.match(stdout, /^2 of 2 decisions would be different\n1 more are by participants of neither/m);
});
