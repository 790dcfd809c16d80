/*
 * The story: tokens of an identity provider are good for minutes, connections for days. Who brings a
 * fresh token in time goes on without losing anything; who does not is told why and leaves. A helper with
 * a narrowed token stays what it is. When a whole fleet's tokens end within a second, nobody else may
 * notice. MCPX_EXPIRING says how many that are (200); MCPX_STALL_MS how many milliseconds the router may
 * make another's message late (250). Protocol: section 7.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { watchEchoes } from './lib/echo_watch.mjs';
import { Participant } from './lib/participant.mjs';
import { Router, signToken } from './lib/router.mjs';

const SECRET = 'a secret that is long enough to be one, and only for this test';
const EXPIRING = Number(process.env.MCPX_EXPIRING ?? 200);
const STALL_MS = Number(process.env.MCPX_STALL_MS ?? 250);
const now = () => Math.floor(Date.now() / 1000);

/** A token; `ends` in seconds from now. */
const issue = (participantId, { ends = 3600, ...claims } = {}) => signToken(SECRET,
  { participantId, topic: 'office', capabilities: ['chat'], exp: now() + ends, ...claims });

const router = await Router.startFor({ after }, { config: { auth: { jwt: { secret: SECRET } },
  limits: { connections: EXPIRING + 100, connects_per_s: 0, joins_per_minute: 0 } } });

const comeIn = (token, query) => Participant.join(router, { topic: 'office', token, query });
const renew = (token, body = { topic: 'office' }) => router.request('POST', '/v0.1/token', { token, body });

test('a fresh token keeps a connection, its absence ends one', async (t) => {
  const old = issue('keeps', { ends: 3 });
  const one = await comeIn(old), other = await comeIn(issue('ends', { ends: 3 }));
  t.after(() => one.close());
  const { status, json } = await renew(issue('keeps', { ends: 600 }), { topic: 'office', replaces: old });
  assert.equal(status, 200);
  assert.deepEqual(json.connections, ['keeps']);
  assert.ok(json.expires_in > 590 && json.expires_in <= 600, String(json.expires_in));
  assert.equal((await other.untilClosed()).code, 4005);
  const id = one.send('chat', { text: 'still here' });
  await one.until(({ payload, from }) => from === 'system:gateway' && payload.event === 'leave'
    && payload.participant.id === 'ends' && payload.reason === 'token_expired', 'the other to leave');
  await one.untilId(id);
  assert.equal(one.closed, undefined);
  const told = one.received.filter(({ envelope }) => envelope.payload?.event === 'update');
  assert.deepEqual(told, [], 'nobody is told of a token that grants the same');
});

test('a token of other rights changes them at once, and everybody is told', async (t) => {
  const one = await comeIn(issue('less')), other = await comeIn(issue('witness'));
  t.after(() => Promise.all([one.close(), other.close()]));
  await other.untilId(one.send('chat', { text: 'before' }));
  assert.equal((await renew(issue('less', { capabilities: ['mcp/request:ping'] }), { topic: 'office', id: 'less' })).status, 200);
  assert.equal((await one.untilRefused(one.send('chat'))).error, 'capability_violation');
  await other.until(({ payload }) => payload?.event === 'update' && payload.participant.id === 'less'
    && payload.participant.capabilities.join() === 'mcp/request:ping', 'an update');
  await one.until(({ kind, payload }) => kind === 'system/welcome'
    && payload.you.capabilities.join() === 'mcp/request:ping', 'a new welcome');
  assert.equal((await renew(issue('less'), { topic: 'office', id: 'less' })).status, 200);
  await other.untilId(one.send('chat', { text: 'after' }));
});

test('those of one token go on together, or the one that is named', async (t) => {
  const old = issue('many', { ends: 3 }), fresh = issue('many', { ends: 4 });
  const all = await Promise.all([1, 2, 3].map(() => comeIn(old, { instance: 'auto' })));
  const ids = all.map(({ id }) => id).sort();
  assert.deepEqual((await renew(issue('many'), { topic: 'office', id: ids[1] })).json.connections, [ids[1]]);
  assert.deepEqual((await renew(fresh, { topic: 'office', replaces: old })).json.connections, [ids[0], ids[2]]);
  assert.deepEqual((await renew(fresh)).json.connections, [ids[0], ids[2]], 'the same once more');
  assert.deepEqual((await renew(issue('many'), { topic: 'office', id: ids[2], replaces: fresh })).json.connections, [ids[2]]);
  const stays = all.filter(({ id }) => id !== ids[0]);
  t.after(() => Promise.all(stays.map((each) => each.close())));
  assert.equal((await all.find(({ id }) => id === ids[0]).untilClosed()).code, 4005);
  for (const each of stays) assert.equal(each.closed, undefined, each.id);
});

test('a renewal leaves a helper with a narrowed token as it is', async (t) => {
  const own = issue('boss', { capabilities: ['*'], ends: 60 });
  const one = await comeIn(own, { instance: 'auto' });
  t.after(() => one.close());
  const helper = await comeIn(issue('boss', { ends: 3 }), { instance: 'auto' });
  const brief = await comeIn(issue('boss', { capabilities: ['*'], ends: 3 }), { instance: 'auto' });
  const fresh = issue('boss', { capabilities: ['*'], ends: 600 });
  assert.equal((await renew(fresh)).status, 404);
  assert.deepEqual((await renew(fresh, { topic: 'office', replaces: own })).json.connections, [one.id]);
  assert.equal((await helper.untilRefused(helper.send('mcp/request:ping'))).error, 'capability_violation');
  for (const each of [helper, brief]) assert.equal((await each.untilClosed()).code, 4005);
  await one.untilId(one.send('chat', { text: 'still here' }));
});

test('a token changes nothing for anybody else', async (t) => {
  const one = await comeIn(issue('mine'));
  t.after(() => one.close());
  const rows = [
    ['no token', undefined, { topic: 'office' }, 401],
    ['an expired one', issue('mine', { ends: -120 }), { topic: 'office' }, 401],
    ['one of another topic', issue('mine', { topic: 'cellar' }), { topic: 'office' }, 403],
    ['one of somebody else', issue('theirs', { capabilities: [] }), { topic: 'office' }, 404],
    ['one of somebody else, who names us', issue('theirs'), { topic: 'office', id: 'mine' }, 404],
    ['an instance that is not there', issue('mine'), { topic: 'office', id: 'mine~2' }, 404],
    ['a topic that is not there', issue('mine', { topic: ['office', 'attic'] }), { topic: 'attic' }, 404],
    ['one of its own that nothing came with', issue('mine', { ends: 7200 }), { topic: 'office' }, 404],
    ['one that nothing came with', issue('mine', { ends: 7200 }), { topic: 'office', replaces: 'x' }, 404],
    ['an old token that is none', issue('mine'), { topic: 'office', replaces: 7 }, 400],
    ['no topic', issue('mine'), {}, 400],
    ['a topic that is none', issue('mine'), { topic: 7 }, 400],
    ['no body', issue('mine'), undefined, 400],
  ];
  for (const [what, token, body, status] of rows) {
    const answer = await router.request('POST', '/v0.1/token', { token, body, headers: { 'content-type': 'application/json' } });
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
  }
  await one.untilId(one.send('chat', { text: 'as before' }));
});

/** So many, a hundred to a topic, whose tokens end then; nothing when they cannot come in before. */
async function crowd(end) {
  const all = [];
  while (all.length < EXPIRING) {
    if (now() > end - 5) {
      await Promise.all(all.map((each) => each.close()));
      return undefined;
    }
    all.push(...await Promise.all(Array.from({ length: Math.min(50, EXPIRING - all.length) }, (_, k) => {
      const number = all.length + k, topic = `crowd-${Math.floor(number / 100)}`;
      return Participant.join(router, { topic, token: issue(`agent-${number}`, { topic, exp: end }) });
    })));
  }
  return all;
}

test('when many tokens end at once, others go on', async (t) => {
  const watcher = await watchEchoes(t, router, issue('watcher', { topic: 'watched' }));
  let all;
  for (let ends = Math.ceil(EXPIRING / 250) + 10; !all; ends *= 2) all = await crowd(now() + ends);
  watcher.begin();
  const codes = (await Promise.all(all.map((each) => each.untilClosed()))).map(({ code }) => code);
  const { echoes, latest, late } = await watcher.end();
  t.diagnostic(`${EXPIRING} tokens ended; of ${echoes} echoes the latest came after `
    + `${latest.toFixed(1)} ms, the router was late by ${late.toFixed(1)} ms`);
  assert.deepEqual([...new Set(codes)], [4005]);
  assert.ok(echoes > 10);
  assert.ok(late < STALL_MS, `the router was late by ${late} ms`);
});
