/*
 * The story: a room has more people in it than the two who talk: one who only watches, one who
 * comes late, one whose network fails, one who comes twice. Each must be able to rely on what it
 * sees: nothing missing, nothing twice, nothing changed. Protocol: sections 1, 4 and 5.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { callOf } from './lib/wire.mjs';

const router = await Router.startFor({ after });

/** A participant that has called a tool of a real server. */
async function caller(room, message) {
  const alice = await room.seat('alice', ['mcp/request:*', 'mcp/response:*', 'chat']);
  await alice.call(callOf(1, 'echo', { message }));
  return alice.participant;
}

test('an observer without grants sees a whole session and can say nothing', async (t) => {
  const room = new Room(t, router);
  await room.everything();
  const observer = await room.join('observer', []);
  const participant = await caller(room, 'watched');
  const mark = await room.settle(participant, observer);
  const seen = observer.heard().map(({ kind }) => kind);
  assert.ok(seen.includes('mcp/request:tools/call:echo'));
  assert.ok(seen.includes('mcp/response:tools/call:echo'));

  const before = participant.received.length;
  for (const kind of ['chat', 'mcp/request:tools/call:echo', 'mcp/proposal:tools/call:echo']) {
    const refusal = await observer.untilRefused(observer.send(kind));
    assert.equal(refusal.error, 'capability_violation');
    assert.equal(refusal.attempted_kind, kind);
    assert.deepEqual(refusal.your_capabilities, []);
  }
  const next = await room.settle(participant, observer);
  assert.notEqual(mark, next);
  assert.deepEqual(participant.received.slice(before).map(({ envelope }) => envelope.id), [next]);
});

test('a late joiner is told what was said, byte for byte, and under the derived kind', async (t) => {
  const room = new Room(t, router);
  const witness = await room.join('witness', []);
  await room.everything();
  const participant = await caller(room, 'before you came');
  const odd = '{"protocol":"mcpx/v0.1", "id":"odd-1",\t"kind":"chat","payload":'
    + '{"n":12345678901234567890,"f":1.10,"e":1e400,"k":1,"k":2,"z":"\\u0000\\ud83d\\ude00 \\/ é"}}';
  participant.sendText(odd);
  await witness.untilId('odd-1');

  const late = await room.join('late', ['mcp/*']);
  const { raw, envelope } = await late.until((e) => e.kind === 'system/history', 'history');
  await late.until((e) => e.kind === 'system/presence', 'its own join');
  assert.deepEqual(envelope.to, ['late']);
  assert.equal(envelope.from, late.welcome.from);
  assert.equal(late.welcome.payload.topic.head, 'odd-1');
  const told = envelope.payload.envelopes;
  assert.ok(told.some(({ kind }) => kind === 'mcp/response:tools/call:echo'));
  assert.equal(envelope.payload.complete, true);

  const live = witness.received.filter((one) => !one.envelope.kind.startsWith('system/'));
  assert.deepEqual(told.filter(({ kind }) => !kind.startsWith('system/')).map(({ id }) => id),
    live.map((one) => one.envelope.id), 'the same envelopes in the same order');
  for (const one of live) assert.ok(raw.includes(one.raw), `unchanged: ${one.raw}`);
  assert.ok(raw.includes(odd.slice(odd.indexOf('{"n"'), -1)), 'the payload as it was sent');

  const order = late.received.map((one) => one.envelope.kind);
  assert.deepEqual(order.slice(0, 3), ['system/welcome', 'system/history', 'system/presence']);
  assert.ok(!late.received.some((one) => one.envelope.kind.startsWith('mcp/')),
    'history is never delivered as if it were live');
});

test('resume after a dropped socket delivers what was missed, once, in order', async (t) => {
  const room = new Room(t, router);
  const speaker = await room.join('speaker', ['chat']);
  const token = await router.token('mobile', room.topic, []);
  const mobile = await room.join('mobile', [], { token });
  speaker.send('chat', { n: 0 }, { id: 'r-0' });
  await mobile.untilId('r-0');
  await mobile.drop();
  for (let n = 1; n <= 50; n++) speaker.send('chat', { n }, { id: `r-${n}` });
  await speaker.untilId('r-50');

  const place = mobile.place();
  assert.equal(place.after, 'r-0');
  const again = await room.join('mobile', [], { token, query: place });
  assert.equal(again.welcome.payload.resumed, true);
  speaker.send('chat', { n: 51 }, { id: 'r-51' });
  await Promise.all([again, speaker].map((one) => one.untilId('r-51')));
  const numbers = again.heard().filter(({ kind }) => kind === 'chat').map(({ payload }) => payload.n);
  assert.deepEqual(numbers, Array.from({ length: 51 }, (_, n) => n + 1));
  assert.ok(!again.received.some(({ envelope }) => envelope.kind === 'system/history'));
  const old = new Map(speaker.received.map(({ raw, envelope }) => [envelope.id, raw]));
  for (const { raw, envelope } of again.received) {
    if (envelope.kind === 'chat') assert.equal(raw, old.get(envelope.id), 'byte for byte');
  }
});

test('a second connection of a participant takes over, and the first is told', async (t) => {
  const room = new Room(t, router);
  const watcher = await room.join('watcher', ['chat']);
  const old = await room.join('twice', ['chat']);
  const young = await room.join('twice', ['chat']);
  assert.equal((await old.untilClosed()).code, 4001);
  const id = young.send('chat');
  const { envelope } = await watcher.untilId(id);
  assert.equal(envelope.from, 'twice');
  const { json } = await router.get(`/v0.1/topics/${room.topic}/participants`,
    await router.token('watcher', room.topic));
  assert.deepEqual(json.participants.map((one) => one.id), ['twice', 'watcher']);
});
