/*
 * The story: many come in at once while the disk takes its time. A topic that a thousand ask for
 * is loaded once; what a joiner says before its welcome is said in its order; and its history, its
 * own join and what is said from then on have no gap and no repetition between them.
 *
 * MCPX_E2E_JOINERS (1000) is how many ask for it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import WebSocket from 'ws';
import { Disk } from './lib/disk.mjs';
import { Participant } from './lib/participant.mjs';
import { eventually, inTime } from './lib/router.mjs';
import { elementsOf, historyOf, untilAllHeard, Writer } from './lib/witness.mjs';

const MANY = Number(process.env.MCPX_E2E_JOINERS ?? 1000);

/** Somebody who says two things before the welcome, and keeps all that comes. */
class Joiner {
  constructor(id, topic) {
    this.id = id;
    this.topic = topic;
  }

  async join(router) {
    const first = [1, 2].map((n) => JSON.stringify({ protocol: 'mcpx/v0.1', id: `${this.id}-${n}`,
      kind: 'chat', payload: { n } }));
    this.seat = await Participant.join(router, { id: this.id, topic: this.topic, first,
      token: await router.token(this.id, this.topic, ['*']) });
  }

  until(id) {
    return this.seat.untilId(id);
  }

  /** Welcome, history, own join, then everything from there on, as `texts` have it. */
  assertWhole(texts) {
    const [welcome, ...rest] = this.seat.received;
    assert.equal(welcome.envelope.kind, 'system/welcome');
    const history = [];
    while (rest[0].envelope.kind === 'system/history') {
      const { raw } = rest.shift();
      history.push(...elementsOf(raw, raw.indexOf('[', raw.indexOf('"envelopes"'))));
    }
    assert.equal(welcome.envelope.payload.history.count, history.length);
    const { kind, payload } = rest[0].envelope;
    assert.deepEqual([kind, payload.event, payload.participant.id], ['system/presence', 'join', this.id]);
    const live = rest.filter(({ envelope }) => envelope.from !== 'system:gateway');
    const all = [...history, ...live.map(({ raw }) => raw)];
    assert.deepEqual(all, texts.slice(texts.length - all.length), this.id);
    const own = texts.map((text) => JSON.parse(text)).filter(({ from }) => from === this.id);
    assert.deepEqual(own.map(({ id }) => id), [`${this.id}-1`, `${this.id}-2`], 'all were routed');
  }
}

test('two hundred come in while every commit takes up to two seconds', async (t) => {
  const disk = await Disk.makeFor(t, { store: { timeout_ms: 60000 } });
  const router = await disk.start({ isSlow: true });
  const writers = [new Writer('w0', 'ann'), new Writer('w1', 'ann')];
  await Promise.all(writers.map((one) => one.join(router)));
  disk.becomes('delay 2000');
  for (const one of writers) one.talk(20);
  const joiners = Array.from({ length: 200 }, (_, i) => new Joiner(`j${i}`, 'ann'));
  await Promise.all(joiners.map((one) => one.join(router)));
  await Promise.all(joiners.map((one) => one.until(`${one.id}-2`)));
  disk.becomes('ok');
  await untilAllHeard(writers);
  const last = writers[0].say();
  await Promise.all([...writers, ...joiners].map((one) => one.until(last)));
  const texts = await historyOf(router, 'ann', await router.token('auditor', 'ann', ['*']));
  for (const one of writers) assert.deepEqual(one.seen, texts, one.id);
  for (const one of joiners) one.assertWhole(texts);
  t.diagnostic(`${texts.length} messages`);
  await Promise.all([...writers.map((one) => one.leave()), ...joiners.map(({ seat }) => seat.close())]);
});

/** Resident memory of a router, in MiB. */
const memoryOf = ({ pid }) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/** A connection that only looks for its welcome, which may be long. */
async function glance(router, id, topic) {
  const socket = new WebSocket(`${router.url}?topic=${topic}&history=0`,
    { headers: { authorization: `Bearer ${await router.token(id, topic, ['*'])}` } });
  const one = { id, socket };
  one.opened = new Promise((done, fail) => { socket.once('open', done).once('error', fail); });
  one.welcomed = new Promise((done, fail) => {
    socket.once('message', (data) => done(data.includes('"kind":"system/welcome"')));
    socket.once('close', (code) => fail(new Error(`${id}: closed with ${code}`)));
  });
  one.welcomed.catch(() => {});
  return one;
}

test(`${MANY} ask for a topic that is being loaded: it is loaded once, and all come in`, async (t) => {
  const disk = await Disk.makeFor(t, { store: { timeout_ms: 60000 } });
  let router = await disk.start();
  const writer = new Writer('w0', 'ann');
  await writer.join(router);
  writer.talk(50);
  await writer.until('ann-w0-2000');
  await untilAllHeard([writer]);
  await writer.leave();
  await router.stop();
  router = await disk.start({ isSlow: true });
  const alone = memoryOf(router);
  disk.becomes('hold');
  const joiners = [];
  while (joiners.length < MANY) { /* not more at once than the router lets wait for their upgrade */
    const some = await Promise.all(Array.from({ length: Math.min(500, MANY - joiners.length) },
      (_, i) => glance(router, `j${joiners.length + i}`, 'ann')));
    await inTime(Promise.all(some.map((one) => one.opened)), 'not all are connected');
    joiners.push(...some);
  }
  const waiting = memoryOf(router);
  disk.becomes('ok');
  const welcomed = await inTime(Promise.all(joiners.map((one) => one.welcomed)), 'not all came in');
  assert.ok(welcomed.every(Boolean));
  assert.equal(await router.metric('mcpx_store_open_seconds_count'), 1);
  t.diagnostic(`${alone} MiB alone, ${waiting} MiB while ${MANY} wait, ${memoryOf(router)} MiB then`);
  assert.ok(waiting - alone < MANY * 48 / 1024, `${waiting - alone} MiB for who waits`);
  for (const { socket } of joiners) socket.terminate();
  await eventually(async () => await router.metric('mcpx_connections') === 0, 'somebody is still connected');
});
