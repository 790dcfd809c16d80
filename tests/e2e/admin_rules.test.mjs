/*
 * The story: several people administrate one router, and not all of them are trusted with everything.
 * What breaks for whom: a mistake of one cannot be mended by another, one gives more than they have, or
 * stops everybody's traffic with removals that end all at once. MCPX_ENDING says how many removals end
 * together (256), MCPX_MEMBERS how many participants are there (100); MCPX_STALL_MS how many milliseconds
 * the router may make another's message late (250). Protocol: section 8.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AdminRoom, configured, good, pagesOf, pathOf, refused } from './lib/admin.mjs';
import { watchEchoes } from './lib/echo_watch.mjs';
import { Participant, Refused } from './lib/participant.mjs';
import { AUDIT, auditKey, eventually, people, person, Router, tokenOf } from './lib/router.mjs';

const ENDING = Number(process.env.MCPX_ENDING ?? 256);
const MEMBERS = Number(process.env.MCPX_MEMBERS ?? 100);
const STALL_MS = Number(process.env.MCPX_STALL_MS ?? 250);
const SECRET = 'a secret that is long enough to be one, and only for this test';
const RM = 'mcp/request:tools/call:rm';
const router = await Router.startFor({ after }, {
  files: auditKey(), env: { MCPX_AUTH_JWT_SECRET: SECRET },
  config: { auth: { jwt: { secret: SECRET } }, audit: AUDIT, admin: { grant_max_s: 3600 },
    limits: { connections: 0, connects_per_s: 0, joins_per_minute: 0, requests_per_minute: 0 } } });

/** Lines of the audit about somebody, as [what, pattern, has it an end?]. */
const lines = (from) => router.audit().filter((line) => line.from === from && line.by)
  .map(({ what, grant, until }) => [what, grant, until !== undefined]);

test('whom one keeps out, another with admin/kick keeps out longer, shorter, or lets in', async (t) => {
  const room = new AdminRoom(t, router);
  const helper = { as: 'helper', can: ['admin/kick'] };
  await room.join('eve', ['chat']);
  const first = Date.parse((await good(room.kick('eve', '&for=3600'))).barredUntil);
  await assert.rejects(room.join('eve', ['chat']),
    (error) => error.status === 403 && error.problem.code === 'kicked');
  assert.ok(Date.parse((await good(room.kick('eve', '&for=7200', helper))).barredUntil) > first + 1000e3);
  assert.ok(Date.parse((await good(room.kick('eve', '&for=60', helper))).barredUntil) < first);
  assert.equal((await good(room.kick('eve', '&for=0&dry_run=1', helper))).barredUntil, undefined);
  await assert.rejects(room.join('eve', ['chat']), Refused);
  assert.equal((await good(room.kick('eve', '&for=0', helper))).barredUntil, undefined);
  await refused(room.kick('eve', '&for=0'), 404, /'eve' is not banned/);
  const eve = await room.join('eve', ['chat']);
  assert.equal((await good(room.kick('eve', '&for=5&dry_run=1'))).connections, 1);
  assert.equal(await eve.passes('chat'), true);
  await refused(room.kick('ghost', '&for=60', helper), 403, /neither configured nor connected/);
  assert.deepEqual((await eventually(() => (lines('eve').length >= 4) && lines('eve'), 'the audit'))
    .map(([what, , ends]) => `${what}${ends ? ' until' : ''}`),
  ['kick until', 'kick until', 'kick until', 'lift']);
});

test('what one has taken away, another with admin/grant gives back, but no more', async (t) => {
  const room = new AdminRoom(t, router);
  const helper = { as: 'helper', can: ['admin/grant'] };
  const bob = await room.join('bob-2', ['mcp/*', 'chat']);
  await good(room.change('bob-2', { remove: [RM, 'x'] }));
  await good(room.change('bob-2', { remove: [RM], until: 1 }, helper));
  assert.equal(await bob.passes(RM), false, 'it is no shorter');
  for (const body of [{ add: [RM, 'z'] }, { add: ['mcp/*'] }, { add: [{ kind: RM, to: ['a'] }] }]) {
    await refused(room.change('bob-2', body, helper), 403, undefined, JSON.stringify(body));
  }
  const back = await good(room.change('bob-2', { add: [RM, 'x'] }, helper));
  assert.deepEqual(back.denied, []);
  assert.equal(await bob.passes(RM), true);
  assert.equal(await bob.passes('x'), false, 'it was not there before, and the helper does not have it');
  await eventually(() => lines('bob-2').length === 5, 'the audit');
  assert.deepEqual(lines('bob-2'), [['revoke', RM, false], ['revoke', 'x', false], ['revoke', RM, false],
    ['lift', RM, false], ['lift', 'x', false]]);
  assert.doesNotMatch(router.log, /event=granted participant="bob-2"/);
  await good(room.change('bob-2', { add: ['admin/*'] }));
  await refused(room.change('bob-2', { remove: ['chat'] }, helper), 403, /a participant with admin/);
});

test('what was taken away is taken back whatever a reload has made of its participant', async (t) => {
  const root = person('root', ['*']);
  const config = (bob) => ({ admin: { grant_max_s: 0 }, participants: { ...bob, root } });
  const bob = (topics, grants) => ({ bob: person('bob', grants, { topics }) });
  const own = await configured(t, config(bob(['work'], ['x/*'])));
  const post = (body) => own.change('bob', body);
  const reload = async (others) => {
    own.configure(config(others));
    await good(own.reload(tokenOf('root')));
  };
  const many = Array.from({ length: 60 }, (_, n) => `x/${n}`);
  await good(post({ remove: [...many, 'x/a', 'x/b', 'x/c'] }));
  await reload(bob(['play'], ['x/*']));
  await refused(post({ topic: 'elsewhere', add: ['x/a'] }), 404);
  assert.equal((await good(post({ add: ['x/a'] }))).denied.length, 62);
  await reload({});
  assert.equal((await good(post({ add: ['x/b'] }))).denied.length, 61);
  /* Now its grants and these removals are more than a set holds. */
  await reload(bob(['work'], ['x/*', ...Array.from({ length: 999 }, (_, n) => `y/${n}`)]));
  await assert.rejects(own.join('bob'), Refused);
  assert.deepEqual((await good(post({ add: ['x/c'] }))).newCapabilities, []);
  const { newCapabilities, denied } = await good(post({ add: many }));
  assert.deepEqual([newCapabilities.length, denied], [1001, []], 'and x/b, lent while nothing gave it');
  await own.join('bob');
  await refused(post({ add: Array.from({ length: 30 }, (_, n) => `z/${n}`) }), 400, /more than a set holds/);
});

test('a removal holds for every token that its participant may bring later', async (t) => {
  const room = new AdminRoom(t, router);
  await good(room.change('comes-late', { remove: [RM] }));
  const late = await room.join('comes-late', ['mcp/*']);
  assert.equal(await late.passes(RM), false);
  /* And who is kept out before it ever came does not come. */
  await good(room.kick('never-seen', '&for=600'));
  await assert.rejects(room.join('never-seen', ['chat']), (error) => error.problem.code === 'kicked');
  await good(room.kick('never-seen', '&for=0'));
  await room.join('never-seen', ['chat']);
});

test('one who may only kick or grant little does not get further by tricks', async (t) => {
  const room = new AdminRoom(t, router);
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
    const response = await fetch(`${router.http}${pathOf(id)}/capabilities`,
      { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: text });
    assert.equal(response.status, status, `${id} ${text}: ${await response.text()}`);
  }
});

test('a page of the list stays small, however much was changed, and none is missed', async (t) => {
  const grants = Array.from({ length: 300 }, (_, n) => `mcp/request:tools/call:${'x'.repeat(180)}${n}`);
  const crowd = Object.fromEntries(Array.from({ length: 2500 },
    (_, n) => [`p${n}`, person(n, undefined, { profile: 'p0' })]));
  const own = await configured(t, {
    /* Some hundred kilobytes: more than a page. */
    profiles: Object.fromEntries([0, 1, 2, 3].map((n) => [`p${n}`, { grants: n ? grants : ['chat'] }])),
    participants: { ...crowd, ...people({ root: ['*'] }) },
    limits: { requests_per_minute: 0, connects_per_s: 0 } });
  const to = Array.from({ length: 200 }, (_, n) => `${n}${'y'.repeat(240)}`);
  for (let n = 0; n < 40; n += 1) await good(own.change('p7', { topic: `t${n}`, add: [{ kind: 'chat', to }] }));
  for (const what of ['participants', 'policy']) {
    const pages = await pagesOf(own, `/admin/${what}?limit=1000`, 'root');
    for (const { text } of pages) assert.ok(text.length < 3 << 20, `${what}: ${text.length} bytes`);
    const all = pages.flatMap(({ json }) => json.participants);
    assert.deepEqual(all.map(({ id }) => id), [...Object.keys(crowd), 'root'].sort(), what);
    if (what === 'policy') {
      assert.equal(pages[0].json.profiles.length, 4);
      continue;
    }
    const p7 = all.find(({ id }) => id === 'p7');
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
  /** Takes so many rights away until then; false when that is past before all are gone. */
  const removeAll = async (until) => {
    for (let i = 0; i < ENDING; i += 16) {
      const answers = await Promise.all(Array.from({ length: Math.min(16, ENDING - i) }, (_, k) => {
        const n = i + k, room = new AdminRoom(t, router, `crowd-${Math.floor((n % MEMBERS) / 100)}`);
        return room.change(`${n < MEMBERS ? 'agent' : 'absent'}-${n}`, { remove: ['chat'], until },
          { as: `root-${n % 64}` });
      }));
      if (Date.now() >= Date.parse(until)) return false;
      for (const answer of answers) await good(answer);
    }
    return true;
  };
  const gauge = () => router.metric('mcpx_changes');
  const endAll = async () => {
    const others = await gauge();
    const watcher = await watchEchoes(t, router, await router.token('watcher', 'watched', ['chat']));
    let until, later = 5000 + ENDING * 8;
    do { /* a loaded machine takes longer to begin, which says nothing of how they end */
      until = new Date(Math.ceil(Date.now() / 1000) * 1000 + later).toISOString();
      later *= 2;
    } while (!await removeAll(until));
    watcher.begin();
    await eventually(async () => Date.now() > Date.parse(until) && await gauge() <= others, 'all have ended');
    for (const each of all.slice(0, 5)) assert.equal(await each.passes('chat'), true);
    const { echoes, late } = await watcher.end();
    t.diagnostic(`${ENDING} removals ended; of ${echoes} echoes the latest was late by ${late.toFixed(1)} ms`);
    return late;
  };
  /* A machine that takes memory away makes a program late now and then; a stall comes each time. */
  let late = await endAll();
  for (let again = 0; late >= STALL_MS && again < 2; again += 1) late = await endAll();
  assert.ok(late < STALL_MS, `the router was late by ${late} ms`);
});
