/*
 * The story: several people administrate one router, and not all of them are trusted with everything.
 * What breaks for whom: a mistake of one cannot be mended by another, one gives more than they have,
 * or stops everybody's traffic with removals that end all at once.
 * MCPX_ENDING says how many removals end together (256), MCPX_MEMBERS how many participants are there
 * (100); MCPX_STALL_MS how many milliseconds the router may make another's message late (250).
 * Protocol: section 8.
 */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { watchEchoes } from './lib/echo_watch.mjs';
import { Participant, Refused } from './lib/participant.mjs';
import { Room } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';

const ENDING = Number(process.env.MCPX_ENDING ?? 256);
const MEMBERS = Number(process.env.MCPX_MEMBERS ?? 100);
const STALL_MS = Number(process.env.MCPX_STALL_MS ?? 250);
const SECRET = 'a secret that is long enough to be one, and only for this test';
const RM = 'mcp/request:tools/call:rm';
let router;
before(async () => {
  router = await Router.start({ config: { auth: { jwt: { secret: SECRET } }, audit: { folder: 'audit', key_file: 'audit.key' },
    admin: { grant_max_s: 3600 },
    limits: { connections: 0, connects_per_s: 0, joins_per_minute: 0, requests_per_minute: 0 } },
  files: { 'audit.key': generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) },
  env: { MCPX_AUTH_JWT_SECRET: SECRET } });
});
after(() => router?.stop());

const path = (id) => `/admin/participants/${encodeURIComponent(id)}`;

async function asks(room, method, target, { as = 'root', can = ['admin/*'] } = {}, body = undefined) {
  const token = await router.token(as, room.topic, can);
  return router.request(method, target, { token, body });
}

const change = (room, id, body, who) => asks(room, 'POST', `${path(id)}/capabilities`, who,
  { topic: room.topic, ...body });
const kick = (room, id, query = '', who) => asks(room, 'DELETE',
  `${path(id)}?topic=${encodeURIComponent(room.topic)}${query}`, who);

async function good(answer) {
  const { status, json, text } = await answer;
  assert.equal(status, 200, text);
  return json;
}

async function refused(answer, status, says) {
  const { status: found, json, text } = await answer;
  assert.equal(found, status, text);
  assert.match(json.detail, says);
}

async function passes(one, kind) {
  const id = one.send(kind, {});
  const { envelope } = await one.until((heard) => heard.id === id || heard.correlation_id === id, kind);
  return envelope.id === id;
}

/** Lines of the audit about somebody, as [what, pattern, has it an end?]. */
const lines = (from) => readdirSync(join(router.folder, 'audit')).filter((name) => name.endsWith('.jsonl'))
  .flatMap((name) => readFileSync(join(router.folder, 'audit', name), 'utf8').split('\n'))
  .filter((line) => line.endsWith('}')).map((line) => JSON.parse(line))
  .filter((line) => line.from === from && line.by)
  .map(({ what, grant, until }) => [what, grant, until !== undefined]);

test('whom one keeps out, another with admin/kick keeps out longer, shorter, or lets in', async (t) => {
  const room = new Room(t, router);
  const helper = { as: 'helper', can: ['admin/kick'] };
  await room.join('eve', ['chat']);
  const first = Date.parse((await good(kick(room, 'eve', '&for=3600'))).barredUntil);
  await assert.rejects(room.join('eve', ['chat']),
    (error) => error.status === 403 && error.problem.code === 'kicked');
  assert.ok(Date.parse((await good(kick(room, 'eve', '&for=7200', helper))).barredUntil) > first + 1000e3);
  assert.ok(Date.parse((await good(kick(room, 'eve', '&for=60', helper))).barredUntil) < first);
  assert.equal((await good(kick(room, 'eve', '&for=0&dry_run=1', helper))).barredUntil, undefined);
  await assert.rejects(room.join('eve', ['chat']), Refused);
  assert.equal((await good(kick(room, 'eve', '&for=0', helper))).barredUntil, undefined);
  await refused(kick(room, 'eve', '&for=0'), 404, /nobody keeps 'eve' out/);
  const eve = await room.join('eve', ['chat']);
  assert.equal((await good(kick(room, 'eve', '&for=5&dry_run=1'))).connections, 1);
  assert.equal(await passes(eve, 'chat'), true);
  await refused(kick(room, 'ghost', '&for=60', helper), 403, /neither configured nor connected/);
  assert.deepEqual((await eventually(() => (lines('eve').length >= 4) && lines('eve'), 'the audit'))
    .map(([what, , ends]) => `${what}${ends ? ' until' : ''}`),
  ['kick until', 'kick until', 'kick until', 'lift']);
});

test('what one has taken away, another with admin/grant gives back, but no more', async (t) => {
  const room = new Room(t, router);
  const helper = { as: 'helper', can: ['admin/grant'] };
  const bob = await room.join('bob-2', ['mcp/*', 'chat']);
  await good(change(room, 'bob-2', { remove: [RM, 'x'] }));
  await good(change(room, 'bob-2', { remove: [RM], until: 1 }, helper));
  assert.equal(await passes(bob, RM), false, 'it is no shorter');
  for (const body of [{ add: [RM, 'z'] }, { add: ['mcp/*'] }, { add: [{ kind: RM, to: ['a'] }] }]) {
    assert.equal((await change(room, 'bob-2', body, helper)).status, 403, JSON.stringify(body));
  }
  const back = await good(change(room, 'bob-2', { add: [RM, 'x'] }, helper));
  assert.deepEqual(back.denied, []);
  assert.equal(await passes(bob, RM), true);
  assert.equal(await passes(bob, 'x'), false, 'it was not there before, and the helper does not have it');
  await eventually(() => lines('bob-2').length === 5, 'the audit');
  assert.deepEqual(lines('bob-2'), [['revoke', RM, false], ['revoke', 'x', false], ['revoke', RM, false],
    ['lift', RM, false], ['lift', 'x', false]]);
  assert.doesNotMatch(router.log, /event=granted participant="bob-2"/);
  await good(change(room, 'bob-2', { add: ['admin/*'] }));
  await refused(change(room, 'bob-2', { remove: ['chat'] }, helper), 403, /who has admin/);
});

test('what was taken away is taken back whatever a reload has made of its participant', async (t) => {
  const person = (token, more) => ({ token_sha256: createHash('sha256').update(token).digest('hex'), ...more });
  const config = (bob) => ({ admin: { grant_max_s: 0 }, participants: { ...bob,
    root: person('r', { topics: ['*'], grants: ['*'] }) } });
  const bob = (topics, grants) => ({ bob: person('b', { topics, grants }) });
  const own = await Router.start({ config: config(bob(['work'], ['x/*'])) });
  t.after(() => own.stop());
  const post = (body) => own.request('POST', `${path('bob')}/capabilities`, { token: 'r', body: { topic: 'work', ...body } });
  const reload = async (people) => {
    writeFileSync(join(own.folder, 'router.json'), JSON.stringify(config(people)));
    await good(own.request('POST', '/admin/reload', { token: 'r', body: {} }));
  };
  const many = Array.from({ length: 60 }, (_, n) => `x/${n}`);
  await good(post({ remove: [...many, 'x/a', 'x/b', 'x/c'] }));
  await reload(bob(['play'], ['x/*']));
  assert.equal((await post({ topic: 'elsewhere', add: ['x/a'] })).status, 404);
  assert.equal((await good(post({ add: ['x/a'] }))).denied.length, 62);
  await reload({});
  assert.equal((await good(post({ add: ['x/b'] }))).denied.length, 61);
  /* Now its grants and these removals are more than a set holds. */
  await reload(bob(['work'], ['x/*', ...Array.from({ length: 999 }, (_, n) => `y/${n}`)]));
  await assert.rejects(Participant.join(own, { topic: 'work', token: 'b' }), Refused);
  assert.deepEqual((await good(post({ add: ['x/c'] }))).newCapabilities, []);
  const { newCapabilities, denied } = await good(post({ add: many }));
  assert.deepEqual([newCapabilities.length, denied], [1001, []], 'and x/b, lent while nothing gave it');
  const back = await Participant.join(own, { topic: 'work', token: 'b' });
  t.after(() => back.close());
  await refused(post({ add: Array.from({ length: 30 }, (_, n) => `z/${n}`) }), 400, /more than a set holds/);
});

test('a removal holds for every token that its participant may bring later', async (t) => {
  const room = new Room(t, router);
  await good(change(room, 'comes-late', { remove: [RM] }));
  const late = await room.join('comes-late', ['mcp/*']);
  assert.equal(await passes(late, RM), false);
  /* And who is kept out before it ever came does not come. */
  await good(kick(room, 'never-seen', '&for=600'));
  await assert.rejects(room.join('never-seen', ['chat']), (error) => error.problem.code === 'kicked');
  await good(kick(room, 'never-seen', '&for=0'));
  await room.join('never-seen', ['chat']);
});

test('one who may only kick or grant little does not get further by tricks', async (t) => {
  const room = new Room(t, router);
  const mallory = { as: 'mallory', can: ['admin/grant', 'chat'] };
  await room.join('mallory', mallory.can);
  await room.join('Bob', ['chat']);
  await room.join('bob', ['chat']);
  const rows = [
    /* to whom, what, the answer */
    ['mallory', { add: ['admin/*'] }, 403],
    ['mallory', { add: ['*'] }, 403],
    ['mallory', { add: ['admin/kick'] }, 403],
    ['BOB', { add: ['chat'] }, 403], /* another name, which nobody has */
    ['b\u043eb', { add: ['chat'] }, 403], /* with a Cyrillic o */
    ['*', { add: ['chat'] }, 403],
    ['bob', { topic: '*', add: ['chat'] }, 403],
    ['bob', { add: ['chat'], until: 9223372036854775807n }, 400],
    ['bob', { add: ['chat'], until: 1e300 }, 400],
    ['bob', { add: ['chat'], until: '9999-12-31T23:59:59Z' }, 403],
    ['bob', { add: [{ kind: 'chat', expires: '1970-01-01T00:00:01Z' }] }, 400],
    ['bob', { add: ['chat'], until: '0001-01-01T00:00:00Z' }, 400],
    ['bob', { add: ['chat'] }, 200],
  ];
  for (const [id, body, status] of rows) {
    const token = await router.token('mallory', room.topic, mallory.can);
    const text = JSON.stringify({ topic: room.topic, ...body },
      (name, value) => (typeof value === 'bigint' ? '~' : value)).replace('"~"', '9223372036854775807');
    const response = await fetch(`${router.http}${path(id)}/capabilities`,
      { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: text });
    assert.equal(response.status, status, `${id} ${text}: ${await response.text()}`);
  }
});

test('a page of the list stays small, however much was changed, and none is missed', async (t) => {
  const grants = Array.from({ length: 300 }, (_, n) => `mcp/request:tools/call:${'x'.repeat(180)}${n}`);
  const person = (n, more) => ({ topics: ['*'], ...more,
    token_sha256: createHash('sha256').update(`token-${n}`).digest('hex') });
  const people = Object.fromEntries(Array.from({ length: 2500 }, (_, n) => [`p${n}`, person(n, { profile: 'p0' })]));
  const own = await Router.start({ config: {
    /* Some hundred kilobytes: more than a page. */
    profiles: Object.fromEntries([0, 1, 2, 3].map((n) => [`p${n}`, { grants: n ? grants : ['chat'] }])),
    participants: { ...people, root: person('root', { grants: ['*'] }) },
    limits: { requests_per_minute: 0, connects_per_s: 0 } } });
  t.after(() => own.stop());
  const to = Array.from({ length: 200 }, (_, n) => `${n}${'y'.repeat(240)}`);
  const topics = Array.from({ length: 40 }, (_, n) => `t${n}`);
  for (const topic of topics) {
    await good(own.request('POST', `${path('p7')}/capabilities`,
      { token: 'token-root', body: { topic, add: [{ kind: 'chat', to }] } }));
  }
  for (const what of ['participants', 'policy']) {
    const ids = [], pages = [];
    for (let after = ''; after !== undefined;) {
      const { json, text } = await own.get(`/admin/${what}?limit=1000${after}`, 'token-root');
      pages.push(json);
      ids.push(...json.participants.map(({ id }) => id));
      assert.ok(text.length < 3 << 20, `${what}: ${text.length} bytes`);
      after = json.next === undefined ? undefined : `&after=${encodeURIComponent(json.next)}`;
    }
    assert.deepEqual(ids, [...Object.keys(people), 'root'].sort(), what);
    if (what === 'policy') {
      assert.equal(pages[0].profiles.length, 4);
      continue;
    }
    const p7 = pages.flatMap(({ participants }) => participants).find(({ id }) => id === 'p7');
    assert.ok(p7.changed.length < 40);
    assert.equal(p7.changed.length + p7.left_out, 40);
  }
});

test('when many removals end at once, others go on', async (t) => {
  const all = [];
  for (let i = 0; i < MEMBERS; i += 50)
    all.push(...await Promise.all(Array.from({ length: Math.min(50, MEMBERS - i) }, (_, k) => Participant.join(router,
      { topic: `crowd-${Math.floor((i + k) / 100)}`, id: `agent-${i + k}`, capabilities: ['chat'] }))));
  t.after(() => Promise.all(all.map((each) => each.close())));
  const gauge = async () => Number(/^mcpx_changes (\d+)/m.exec((await router.get('/metrics')).text)[1]);
  const endAll = async () => {
    const others = await gauge(), until = new Date(Math.ceil(Date.now() / 1000) * 1000 + 5000 + ENDING * 8).toISOString();
    for (let i = 0; i < ENDING; i += 16) {
      await Promise.all(Array.from({ length: Math.min(16, ENDING - i) }, async (_, k) => {
        const n = i + k, topic = `crowd-${Math.floor((n % MEMBERS) / 100)}`;
        await good(change({ topic }, `${n < MEMBERS ? 'agent' : 'absent'}-${n}`, { remove: ['chat'], until },
          { as: `root-${n % 64}` }));
      }));
    }
    assert.ok(Date.now() < Date.parse(until), 'they were not there before their end');
    const watcher = await watchEchoes(t, router, await router.token('watcher', 'watched', ['chat']));
    watcher.begin();
    await eventually(async () => Date.now() > Date.parse(until) && await gauge() <= others, 'all have ended');
    for (const each of all.slice(0, 5)) assert.equal(await passes(each, 'chat'), true);
    const { echoes, late } = await watcher.end();
    t.diagnostic(`${ENDING} removals ended; of ${echoes} echoes the latest was late by ${late.toFixed(1)} ms`);
    return late;
  };
  /* A machine that takes memory away makes a program late now and then; a stall comes each time. */
  let late = await endAll();
  for (let again = 0; late >= STALL_MS && again < 2; again += 1) late = await endAll();
  assert.ok(late < STALL_MS, `the router was late by ${late} ms`);
});
