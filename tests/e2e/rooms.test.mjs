/*
 * The story: a room has more people in it than the two who talk: one who only watches, one who
 * comes late, one who wants to hear only what is meant for it, one whose network fails. Each must
 * be able to rely on what it sees: nothing missing, nothing twice, nothing changed.
 * Protocol: sections 1, 4 and 5.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

/** A participant that has called a tool of a real server. */
async function caller(room, message) {
  const alice = await room.seat('alice', ['mcp/request:*', 'mcp/response:*', 'chat']);
  await alice.call(rpc(1, 'tools/call', { name: 'echo', arguments: { message } }));
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

test('between history and live traffic nothing is missing and nothing comes twice', async (t) => {
  const room = new Room(t, router);
  const speaker = await room.join('speaker', ['chat']);
  const joining = [];
  let outside = 5;
  let n = 0;
  while (outside > 0 && n < 5000) { /* speaks, ten ahead of the echo, until all five are in */
    if (n % 100 === 0 && joining.length < 5) {
      joining.push(room.join(`joiner-${n}`, [], { query: { history: 1000 } })
        .finally(() => { outside -= 1; }));
    }
    for (const end = n + 10; n < end; n++) speaker.send('chat', { n }, { id: `n-${n}` });
    await speaker.untilId(`n-${n - 1}`);
  }
  const joiners = await Promise.all(joining);
  const last = await room.settle(speaker, ...joiners);
  for (const joiner of joiners) {
    const told = joiner.heard()
      .flatMap((e) => (e.kind === 'system/history' ? e.payload.envelopes : [e]))
      .filter(({ kind, id }) => kind === 'chat' && id !== last).map(({ payload }) => payload.n);
    const first = told[0];
    assert.deepEqual(told, Array.from({ length: n - first }, (_, index) => first + index), joiner.id);
    assert.ok(first === 0 || told.length >= 1000, 'as much history as was asked for');
  }
});

test('?history=N asks for at most N, and 0 for none', async (t) => {
  const room = new Room(t, router);
  const talker = await room.join('talker', ['chat']);
  for (const id of ['h-1', 'h-2', 'h-3']) talker.send('chat', {}, { id });
  await talker.untilId('h-3');
  const two = await room.join('two', ['chat'], { query: { history: 2 } });
  const { envelope } = await two.until((e) => e.kind === 'system/history', 'history');
  const spoken = envelope.payload.envelopes.filter(({ kind }) => kind === 'chat');
  assert.ok(spoken.length > 0 && spoken.length <= 2 && envelope.payload.envelopes.length <= 2);
  assert.equal(spoken.at(-1).id, 'h-3');
  const none = await room.join('none', ['chat'], { query: { history: 0 } });
  await room.settle(none);
  assert.ok(!none.received.some((one) => one.envelope.payload.envelopes?.length > 0));
});

test('in directed mode one hears what is for it and for everyone, and no more', async (t) => {
  const room = new Room(t, router);
  const speaker = await room.join('speaker', ['chat']);
  const directed = await room.join('directed', [], { query: { routing: 'directed' } });
  const all = await room.join('all', [], { query: { routing: 'all' } });
  speaker.send('chat', { text: 'for somebody else' }, { id: 'd-1', to: ['nobody-here'] });
  speaker.send('chat', { text: 'for you' }, { id: 'd-2', to: ['directed', 'nobody-here'] });
  speaker.send('chat', { text: 'for everyone, said aloud' }, { id: 'd-3', to: [] });
  speaker.send('chat', { text: 'for everyone' }, { id: 'd-4' });
  await Promise.all([directed.untilId('d-4'), all.untilId('d-4'), speaker.untilId('d-4')]);
  const ids = (one) => one.heard().filter(({ kind }) => kind === 'chat').map(({ id }) => id);
  assert.deepEqual(ids(directed), ['d-2', 'd-3', 'd-4']);
  assert.deepEqual(ids(all), ['d-1', 'd-2', 'd-3', 'd-4']);
  assert.deepEqual(ids(speaker), ['d-1', 'd-2', 'd-3', 'd-4'], 'its own echo is its receipt');
});

test('everybody is told of everybody, joins and leaves included', async (t) => {
  const room = new Room(t, router);
  const first = await room.join('first', ['chat']);
  const second = await room.join('second', ['mcp/*']);
  assert.deepEqual(first.welcome.payload.participants, []);
  assert.deepEqual(second.welcome.payload.participants, [{ id: 'first', capabilities: ['chat'] }]);
  const presence = (event, id) => (e) => e.kind === 'system/presence'
    && e.payload.event === event && e.payload.participant.id === id;
  const { envelope } = await first.until(presence('join', 'second'), 'the join');
  assert.deepEqual(envelope.payload.participant.capabilities, ['mcp/*']);
  await second.until(presence('join', 'second'), 'its own join');
  await second.close();
  await first.until(presence('leave', 'second'), 'the leave');
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

test('resume after an envelope nobody remembers says so and gives history instead', async (t) => {
  const room = new Room(t, router);
  const speaker = await room.join('speaker', ['chat']);
  speaker.send('chat', {}, { id: 'known' });
  await speaker.untilId('known');
  const place = speaker.place();
  for (const query of [{ after: 'known' }, { ...place, after: 'never-was' }, { ...place, serial: 99 }]) {
    const refused = await room.join('lost', [], { query });
    assert.equal(refused.welcome.payload.resumed, false, JSON.stringify(query));
    await refused.close();
  }
  const lost = await room.join('lost', [], { query: { after: 'known' } });
  const { envelope } = await lost.until((e) => e.kind === 'system/history', 'history');
  assert.ok(envelope.payload.envelopes.some(({ id }) => id === 'known'));
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

test('a binary message closes the connection with 1003', async (t) => {
  const room = new Room(t, router);
  const odd = await room.join('odd', ['chat']);
  odd.sendText(Buffer.from('{"protocol":"mcpx/v0.1","id":"b","kind":"chat","payload":{}}'));
  assert.equal((await odd.untilClosed()).code, 1003);
});
