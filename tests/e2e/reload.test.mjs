/*
 * The story: an administrator edits the configuration of a router that people are working through, and
 * reloads it. Those whom the change concerns have to feel it with their very next message; the others
 * must not notice at all, not even when the file is broken, and not when this is done a thousand
 * times. MCPX_RELOADS says how often; MCPX_RELOADS=1000 takes some minutes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { good, refused } from './lib/admin.mjs';
import { Participant, Refused } from './lib/participant.mjs';
import { ends, mcpxctl } from './lib/program.mjs';
import { AUDIT, auditKey, eventually, person as entry, Router, sha256, signToken, tokenOf }
  from './lib/router.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const RELOADS = Number(process.env.MCPX_RELOADS ?? 60);
const SECRET = 'a secret that is long enough to be one, and only for this test';
const OTHER = 'another secret that is long enough to be one, for this test too';

const person = (name, grants, more) => entry(name, grants, { topics: ['room*'], ...more });
const CHIEF = entry('chief', ['admin/reload', 'chat']);

/** A router with these people, and an administrator. Every token is one that no log may show. */
async function start(t, people, config = {}, files = {}) {
  const router = await Router.startFor(t, { files,
    config: { ...config, participants: { chief: CHIEF, ...people } } });
  router.secrets = ['token-of-', SECRET, OTHER];
  router.t = t;
  router.edit = (others, settings = {}) => router.configure(typeof others === 'string' ? others
    : { ...settings, participants: { chief: CHIEF, ...others } });
  /** Edits, reloads, and expects that it is in force; returns the answer. */
  router.change = (others, settings) => {
    router.edit(others, settings);
    return good(router.reload(tokenOf('chief')));
  };
  return router;
}

/** Edits and reloads by mcpxctl: its exit code, and what it says. */
function reloads(router, ...edit) {
  router.edit(...edit);
  return mcpxctl(['reload'], { env: { MCPX_URL: router.url, MCPX_TOKEN: tokenOf('chief') } });
}

/** Comes in, and is closed when the test ends. */
async function join_(router, id, more = {}) {
  const who = await Participant.join(router, { id, topic: 'room', token: tokenOf(id), ...more });
  router.t.after(() => who.close());
  return who;
}
const isUpdate = (who) => (e) => e.kind === 'system/presence' && e.payload.event === 'update'
  && e.payload.participant.id === who;

test('a change is in force for the very next message; who is not concerned hears nothing', async (t) => {
  const people = { ann: person('ann', ['chat']), bob: person('bob', ['chat']) };
  const router = await start(t, people);
  const ann = await join_(router, 'ann');
  const bob = await join_(router, 'bob');
  const rev = ann.welcome.payload.policy.rev;
  assert.match(rev, /^[0-9a-f]{16}$/);

  await ann.untilRefused(ann.send('note', {}));
  const before = bob.received.length;
  const answer = await router.change({ ...people, ann: person('ann', ['chat', 'note'], { deny: ['x/*'] }) });
  assert.deepEqual(answer.participants, { added: 0, removed: 0, changed: 1 });
  assert.deepEqual(answer.changes, [{ participant: 'ann', change: 'changed',
    grants_added: ['note'], deny_added: ['x/*'] }]);
  assert.equal(answer.was, rev);
  assert.notEqual(answer.rev, rev);

  await bob.untilId(ann.send('note', {}));
  const { envelope: welcome } = await ann.until(
    (e) => e.kind === 'system/welcome' && e.payload.policy.rev === answer.rev, 'another welcome');
  assert.deepEqual(welcome.payload.you.capabilities, ['chat', 'note']);
  const { envelope: update } = await bob.until(isUpdate('ann'), 'the update of ann', { since: before });
  assert.deepEqual(update.payload.participant.capabilities, ['chat', 'note']);

  const second = bob.received.length;
  assert.deepEqual((await router.change(people)).changes, [{ participant: 'ann', change: 'changed',
    grants_removed: ['note'], deny_removed: ['x/*'] }]);
  assert.equal((await ann.untilRefused(ann.send('note', {}))).error, 'capability_violation');
  assert.equal(bob.received.filter(({ envelope: e }) => e.kind === 'system/welcome').length, 1);

  await bob.until(isUpdate('ann'), 'the second update of ann', { since: second });

  const same = await router.change(people);
  assert.deepEqual([same.changes, same.settings, same.rev], [[], [], rev]);
  const heard = bob.received.length;
  await bob.untilId(ann.send('chat', {}));
  assert.deepEqual(bob.received.slice(heard).map(({ envelope: e }) => e.kind), ['chat']);
  assert.match(router.log, /event=reloaded .*changed=1 .*by="chief".*\n.*event=policy_changed participant="ann" change="changed"/);
  assert.match((await reloads(router, { ...people, eve: person('eve', ['mcp/requst']) })).stdout, /^warning: .*eve/m);
});

test('who is removed, has another token, or may not be there any more', async (t) => {
  const jwt = { jwt: { keys: [{ kid: 'k', alg: 'HS256', secret: SECRET }] } };
  const people = Object.fromEntries(['ann', 'bob', 'cid', 'dan', 'eve'].map(
    (name) => [name, person(name, ['chat'])]));
  const router = await start(t, people, { auth: jwt });
  const signed = await Participant.join(router, { id: 'sig', topic: 'room',
    token: signToken(SECRET, { participantId: 'sig', topic: 'room', capabilities: ['chat'] }) });
  const [ann, bob, cid, dan] = await Promise.all(['ann', 'bob', 'cid', 'dan'].map((id) => join_(router, id)));
  const ticket = async (token) => (await router.request('POST', '/v0.1/tickets',
    { token, body: { topic: 'room' } })).json.ticket;
  const [evesTicket, dansTicket] = [await ticket(tokenOf('eve')), await ticket(tokenOf('dan'))];

  const { ann: gone, eve: out, ...rest } = people;
  const answer = await router.change({ ...rest, new: person('new', ['chat']),
    bob: person('bob', ['chat'], { token_sha256: sha256('token-of-bob-the-second') }),
    cid: person('cid', ['chat'], { topics: ['hall'] }) },
  { auth: { jwt: { keys: [{ kid: 'k', alg: 'HS256', secret: OTHER }] } } });
  assert.deepEqual(answer.participants, { added: 1, removed: 2, changed: 2 });
  assert.deepEqual(answer.settings, [{ setting: '/auth/jwt/keys' }]);
  assert.deepEqual(answer.changes.find((row) => row.participant === 'bob'),
    { participant: 'bob', change: 'changed', token: 'changed' });

  for (const [who, code, reason] of [[ann, 4004, 'removed by an administrator'], [cid, 4004, 'removed by an administrator'],
    [bob, 4005, 'token expired'], [signed, 4005, 'token expired']]) {
    const closed = await who.untilClosed();
    assert.deepEqual([who.id, closed.code, closed.reason], [who.id, code, reason]);
  }
  const came = await join_(router, 'new');
  await dan.untilId(came.send('chat', {}));
  const again = await join_(router, 'bob', { token: 'token-of-bob-the-second' });
  await assert.rejects(join_(router, 'ann'), Refused);
  await assert.rejects(Participant.join(router, { topic: 'room', authorization: false,
    query: { ticket: evesTicket } }), (error) => error instanceof Refused && error.status === 401);
  await join_(router, 'dan', { authorization: false, query: { ticket: dansTicket } });
});

test('a broken file changes nothing, and every fault is named', async (t) => {
  const people = { ann: person('ann', ['chat']) };
  const router = await start(t, people);
  const ann = await join_(router, 'ann');

  for (const [text, ...faults] of [
    ['', 'router.json'],
    ['{"participants":', 'router.json: line'],
    ['{"limits":{"depth":-1,"pong":1},"participants":{"x":{}}}', '/limits/depth', '/limits/pong',
      'token_sha256'],
    [JSON.stringify({ auth: { jwt: { secret: SECRET } }, listen: 7 }), '/listen'],
  ]) {
    router.edit(text);
    const answer = await refused(router.reload(tokenOf('chief')), 422);
    assert.equal(answer.code, 'invalid_config');
    for (const fault of faults) assert.ok(answer.detail.includes(fault), answer.detail);
    assert.ok(!JSON.stringify(answer).includes(SECRET));
  }
  await ends(reloads(router, '{"limits":{"depth":-1,"pong":1}}'),
    2, /^mcpxctl reload: the router answers 422: .*\/limits\/depth: .*\nmcpxctl reload: .*\/limits\/pong: .*\n$/);
  await ann.untilId(ann.send('chat', {}));
  await refused(router.reload(tokenOf('ann')), 403);
  await refused(router.reload(), 401);
  const metrics = (await router.get('/metrics')).text;
  assert.match(metrics, /^mcpx_reloads_total\{result="refused"\} 5$/m);
  assert.match(metrics, new RegExp(`^mcpx_policy_info\\{rev="${ann.welcome.payload.policy.rev}"\\} 1$`, 'm'));
  assert.match(router.log, /event=reload_refused .*\n.*event=reload_fault line=".*router.json: line/);
});

test('a signal reloads as well, and the audit has a line of it', async (t) => {
  const audit = { audit: AUDIT };
  const router = await start(t, {}, audit, auditKey());
  router.edit({ ann: person('ann', ['chat']) }, audit);
  process.kill(router.pid, 'SIGHUP');
  await eventually(() => /event=reloaded .*added=1 .*by="signal"/.test(router.log), () => router.log);
  const ann = await join_(router, 'ann');
  await ann.untilId(ann.send('chat', {}));
  await router.change({ ann: person('ann', []) }, audit);
  await ann.untilRefused(ann.send('chat', {}));
  await ann.close();
  await eventually(() => router.audit().some((line) => line.what === 'leave'), 'the leave in the audit');
  const told = router.audit().filter(({ what }) => ['reload', 'allow', 'refuse'].includes(what));
  assert.deepEqual(told.map(({ what }) => what), ['reload', 'allow', 'reload', 'refuse']);
  assert.deepEqual([told[0].by, told[2].by, told[2].address], ['signal', 'chief', '127.0.0.1']);
  assert.match(told[0].reason, /^was [0-9a-f]{16}; participants: 1 added, 0 removed, 0 changed$/);
  assert.equal(told[1].rev, told[0].rev);
  assert.equal(told[3].rev, told[2].rev);
  assert.notEqual(told[1].rev, told[3].rev);
});

test('metrics tell how old the configuration in force is, and what became of reloads', async (t) => {
  const router = await start(t, {});
  const age = () => router.metric('mcpx_config_age_seconds');
  const aged = await eventually(async () => (await age()) >= 1 && age(), 'it does not get older');
  router.edit('{');
  assert.equal((await router.reload(tokenOf('chief'))).status, 422);
  assert.ok(await age() >= aged, 'what was refused makes it no younger');
  await router.change({ ann: person('ann', ['chat']) });
  assert.ok(await age() < aged, 'a reload makes it young');
  assert.equal(await router.metric('mcpx_reloads_total{result="refused"}'), 1);
  assert.equal(await router.metric('mcpx_reloads_total{result="done"}'), 1);
});

/* What would break: everybody waits while the loop compares long lists for the log, for two seconds. */
test('many changes of long lists hold nobody up', async (t) => {
  const grants = Array.from({ length: 1000 }, (_, i) => `mcp/request:tools/call:tool_number_${i}`);
  const people = Object.fromEntries(Array.from({ length: 100 }, (_, i) =>
    [`p${i}`, { token_sha256: sha256(tokenOf(`p${i}`)), topics: ['room'], profile: 'long' }]));
  const router = await start(t, people, { profiles: { long: { grants } } });
  const answer = await router.change(people, { profiles: { long: { grants: [...grants, 'chat'] } } });
  assert.deepEqual(answer.participants, { added: 0, removed: 0, changed: 100 });
  assert.equal(answer.changes.length, 101);
  const { text } = await router.get('/metrics');
  const turns = (le) => Number(text.match(new RegExp(`^mcpx_loop_turn_seconds_bucket\\{le="${le}"\\} (\\d+)$`, 'm'))[1]);
  assert.equal(turns('1.000000'), turns('\\+Inf'), text);
  await eventually(() => /event=policy_changed left_out=1$/m.test(router.log), () => router.log);
});

test('many participants who are gone hold nobody up, however soon the next reload is asked for', async (t) => {
  const own = (i) => [`x/${i}`, `mcp/request:tools/call:a${i}*`, `mcp/request:tools/call:*b${i}`];
  const people = Object.fromEntries(Array.from({ length: 30000 }, (_, i) => [`p${i}`, person(`p${i}`, own(i))]));
  const isQuick = async () => { /* a machine that takes memory away makes a turn long now and then */
    const router = await start(t, people);
    router.edit({});
    await Promise.all(Array.from({ length: 3 }, () => router.reload(tokenOf('chief'))));
    return /^mcpx_loop_turn_seconds_bucket{le="0.100000"} (\d+)\n[^]*?_turn_seconds_bucket{le="\+Inf"} \1$/m
      .test((await router.get('/metrics')).text);
  };
  let tries = parseFloat(readFileSync('/proc/loadavg', 'utf8')) > 3 ? 9 : 3; /* a busy machine is slow */
  while (!await isQuick()) assert.ok(--tries > 0, 'a turn took more than 100 ms, each time');
});

const refusedWith = async (who, kind, payload) => (await who.untilRefused(who.send(kind, payload))).error;
const status = (promise) => promise.then(async (who) => { await who.close(); return 101; },
  (error) => error.status ?? error.message);

/* What settings change, seen from outside: a value, and what is to be observed then. */
const LIVE = [
  ['limits.message_bytes', 2048, async (r, ann) => {
    await ann.until((e) => e.kind === 'system/welcome' && e.payload.limits.message_bytes === 2048, 'limits');
    await ann.untilId(ann.send('chat', { text: 'x'.repeat(1000) }));
    ann.send('chat', { text: 'x'.repeat(3000) });
    assert.equal((await ann.untilClosed()).code, 1009);
    assert.equal(ann.received.at(-1).envelope.payload.offset, 2048);
  }],
  ['limits.messages_per_minute', 2, async (r, ann) => {
    for (let i = 0; i < 2; i += 1) ann.send('chat', {});
    assert.equal(await refusedWith(ann, 'chat', {}), 'rate_limited');
  }],
  ['limits.bytes_per_minute', 1024, async (r, ann) => {
    ann.send('chat', { text: 'x'.repeat(900) });
    assert.equal(await refusedWith(ann, 'chat', { text: 'x'.repeat(900) }), 'rate_limited');
  }],
  ['limits.depth', 3, (r, ann) => ann.send('chat', { a: [[[1]]] })
    && ann.until((e) => e.kind === 'system/error', 'too deep')],
  ['limits.connections_per_participant', 1, async (r) =>
    assert.equal(await status(join_(r, 'ann', { topic: 'room2' })), 429)],
  ['limits.tickets_per_participant', 1, async (r) => {
    const ask = () => r.request('POST', '/v0.1/tickets', { token: tokenOf('ann'), body: { topic: 'room' } });
    assert.deepEqual([(await ask()).status, (await ask()).status], [200, 429]);
  }],
  ['limits.requests_per_minute', 6, async (r) => {
    const answers = [await r.get('/v0.1/topics', tokenOf('ann')), await r.get('/v0.1/topics', tokenOf('ann'))];
    assert.equal(answers[1].status, 429);
  }],
  ['limits.connects_per_s', 1, async (r) => {
    const answers = [];
    for (let i = 0; i < 20; i++) answers.push(await r.get('/livez').then((a) => a.status, () => 'cut'));
    assert.ok(answers.some((answer) => answer !== 200), answers.join());
  }],
  ['limits.joins_per_minute', 1, async (r) => {
    await join_(r, 'bob').then((bob) => bob.close());
    assert.notEqual(await status(join_(r, 'bob')), 101);
  }],
  ['limits.ping_s', 1, (r, ann) => ann.untilPinged()],
  ['topics.create', false, async (r) => assert.equal(await status(join_(r, 'ann', { topic: 'room3' })), 404)],
  ['topics.max', 1, async (r) => assert.equal(await status(join_(r, 'ann', { topic: 'room4' })), 503)],
  ['topics.max_per_participant', 1, async (r) =>
    assert.equal(await status(join_(r, 'ann', { topic: 'room5' })), 429)],
  ['topics.participants', 1, async (r) => assert.equal(await status(join_(r, 'bob')), 503)],
  ['topics.replay', 1, async (r, ann) => {
    for (let i = 0; i < 3; i++) await ann.untilId(ann.send('chat', {}));
    const bob = await join_(r, 'bob');
    assert.equal(bob.welcome.payload.history.count, 1);
  }],
  ['topics.routing', 'directed', async (r, ann) => {
    const bob = await join_(r, 'bob');
    ann.send('chat', {}, { to: ['ann'] });
    await bob.untilId(ann.send('chat', {}));
    assert.equal(bob.heard().filter(({ kind, to }) => kind === 'chat' && to).length, 0);
  }],
  ['auth.duplicate', 'reject', async (r) => assert.equal(await status(join_(r, 'ann')), 409)],
  ['auth.instances', 1, async (r) =>
    assert.equal(await status(join_(r, 'ann', { query: { instance: 'auto' } })), 409)],
  ['auth.query_token', true, async (r) => assert.equal(await status(Participant.join(r,
    { topic: 'room', authorization: false, query: { token: tokenOf('bob') } })), 101)],
  ['auth.origins', ['https://good.example'], async (r) => {
    assert.equal(await status(join_(r, 'bob', { headers: { origin: 'https://good.example' } })), 101);
    assert.equal(await status(join_(r, 'bob', { headers: { origin: 'http://localhost:1' } })), 403);
  }],
  ['auth.jwt.secret', OTHER, async (r) => assert.equal(await status(Participant.join(r, { topic: 'room',
    token: signToken(OTHER, { participantId: 'sig', topic: 'room' }) })), 101)],
  ['derive_kinds', false, async (r, ann) => {
    const ask = ann.send('mcp/request:tools/call:x', { jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: { name: 'x', arguments: {} } });
    await ann.untilId(ask);
    const id = ann.send('mcp/response', { jsonrpc: '2.0', id: 1, result: {} }, { correlation_id: ask });
    assert.equal((await ann.untilId(id)).envelope.kind, 'mcp/response');
  }],
  ['log.format', 'json', async (r) => {
    await r.change({ ann: person('ann', ['*']) }, { log: { format: 'json' } });
    await eventually(() => /^\{.*"event":"reloaded"/m.test(r.log), () => r.log);
  }],
  ['trusted_proxies', ['127.0.0.1'], async (r) => {
    assert.equal(await status(join_(r, 'bob', { headers: { 'x-forwarded-for': '192.0.2.7' } })), 101);
    await eventually(() => /event=admitted participant="bob" .*remote="192\.0\.2\.7"/.test(r.log), () => r.log);
  }],
  ['proxy_address', 'forwarded', async (r) => {
    await r.change({ bob: person('bob', ['chat']) }, { proxy_address: 'forwarded', trusted_proxies: ['127.0.0.1'] });
    assert.equal(await status(join_(r, 'bob', { headers: { forwarded: 'for=192.0.2.8' } })), 101);
    await eventually(() => /event=admitted participant="bob" .*remote="192\.0\.2\.8"/.test(r.log), () => r.log);
  }],
  ['admin.grant_max_s', 60, async (r) => {
    await r.change({ ann: person('ann', ['chat']), head: person('head', ['admin/*']) }, { admin: { grant_max_s: 60 } });
    const lends = (until) => r.request('POST', '/admin/participants/ann/capabilities',
      { token: tokenOf('head'), body: { topic: 'room', add: ['note'], until } });
    assert.equal((await lends(3600)).status, 403);
    assert.equal((await lends(30)).status, 200);
  }],
  ['log.level', 'error', async (r) => {
    const { length } = r.log;
    await status(join_(r, 'bob'));
    r.edit('');
    await r.reload(tokenOf('chief'));
    await eventually(() => r.log.includes('reload_refused'), () => r.log);
    assert.ok(!r.log.slice(length).includes('event=admitted'));
  }],
];

/* "a.b" = value, as an object of objects. */
const nested = (path, value) => path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value);

for (const [path, value, observe] of LIVE) {
  test(`${path} is in force at once`, async (t) => {
    const people = { ann: person('ann', ['chat', 'mcp/*']), bob: person('bob', ['chat']) };
    const router = await start(t, people);
    const ann = await join_(router, 'ann');
    const answer = await router.change(people, nested(path, value));
    assert.deepEqual(answer.settings.map(({ setting }) => setting), [`/${path.replaceAll('.', '/')}`]);
    await observe(router, ann);
  });
}

/* The rows of the manual whose "changed by" is the word. */
function rows(word) {
  return readFileSync(resolve(HERE, '../../docs/configuration.md'), 'utf8').split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 9 && cells[6] === word)
    .map((cells) => ({ key: cells[1].replaceAll('`', ''), type: cells[2], range: cells[3], fallback: cells[4],
      variable: cells[5] }));
}

/* A value that a setting does not have by default. */
function another({ key, type, range, fallback }) {
  if (key === 'listen') return ['127.0.0.1:0', '127.0.0.1:0'];
  if (type.startsWith('boolean')) return fallback !== '`true`';
  if (type.startsWith('integer')) return Number(/\d+/.exec(range)[0]) + 1;
  if (type === 'choice') return range.split(', ').find((word) => !fallback.includes(word));
  return type.startsWith('list') ? ['another'] : 'another';
}

test('a setting that takes a restart is named, and nothing else comes into force', async (t) => {
  const fixed = rows('restart').filter(({ range, key }) => range !== 'empty' && !key.startsWith('tls')
    && !key.includes('[]'));
  assert.ok(fixed.length > 10);
  const people = { ann: person('ann', ['chat']) };
  const router = await start(t, people);
  for (const row of fixed.filter(({ key }) => key !== 'listen')) {
    const settings = nested(row.key, another(row));
    if (row.key === 'store.kind') settings.store.file = 'x.db';
    if (row.key === 'audit.folder') settings.audit.key_file = 'x.key';
    router.edit({}, settings);
    const { detail } = await refused(router.reload(tokenOf('chief')), 422,
      /, which takes a restart of the router/, row.key);
    assert.ok(detail.includes(`/${row.key.replaceAll('.', '/')}: `), `${row.key}: ${detail}`);
  }
  const ann = await join_(router, 'ann');
  await ann.untilId(ann.send('chat', {}));
});

test('each live setting of the manual comes into force and is named, also where none is observed above', async (t) => {
  const observed = new Set(LIVE.map(([path]) => path));
  const router = await start(t, {});
  for (const row of rows('reload').filter(({ key, variable }) => variable && !observed.has(key) && !key.endsWith('_file'))) {
    const { settings } = await router.change({}, nested(row.key, another(row)));
    assert.ok(settings.some(({ setting }) => setting === `/${row.key.replaceAll('.', '/')}`), row.key);
  }
});

/* ---- under load ---- */

const residentKiB = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

test(`${RELOADS} reloads under load: nobody is lost, nothing is refused wrongly`, async (t) => {
  const steady = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, person(name, ['chat'])]));
  const limits = { limits: { messages_per_minute: 0, bytes_per_minute: 0, requests_per_minute: 0, connects_per_s: 0 } };
  const router = await start(t, { ...steady, flip: person('flip', ['chat']) }, limits);
  const talkers = await Promise.all(Object.keys(steady).map((id) => join_(router, id)));
  const flip = await join_(router, 'flip');
  let talking = true;
  let said = 0;
  const talks = talkers.map(async (who) => {
    for (; talking; said++) await who.untilId(who.send('chat', { text: 'x'.repeat(200) }));
  });
  let granted = true;
  let early = 0;
  for (let i = 0; i < RELOADS; i++) {
    const wanted = i % 4 < 2;
    if (i % 3 === 2) {
      router.edit(i % 2 ? '{"participants":' : JSON.stringify({ limits: { connections: 1 + i } }));
      assert.equal((await router.reload(tokenOf('chief'))).status, 422);
    } else {
      await router.change({ ...steady, [`guest${i}`]: person(`guest${i}`, ['chat']),
        flip: person('flip', wanted ? ['chat'] : ['note']) }, limits);
      granted = wanted;
    }
    const id = flip.send('chat', {});
    if (granted) await flip.untilId(id);
    else assert.equal((await flip.untilRefused(id)).error, 'capability_violation');
    if (i === Math.floor(RELOADS / 3)) early = residentKiB(router.pid);
  }
  talking = false;
  await Promise.all(talks);
  assert.ok(said > RELOADS);
  for (const who of talkers) {
    assert.equal(who.closed, undefined);
    assert.equal(who.received.filter(({ envelope: e }) => e.kind === 'system/error').length, 0);
    assert.equal(who.received.filter(({ envelope: e }) => e.kind === 'system/welcome').length, 1);
  }
  if (RELOADS <= 60 || !process.env.ASAN_OPTIONS) {
    const grown = residentKiB(router.pid) - early;
    assert.ok(grown < 24 * 1024, `the router has grown by ${grown} KiB`);
  }
});
