/*
 * The story: systemd holds the listening socket, and the router is restarted under everybody who is
 * there and talks. Nobody is refused, each comes back when it was told to and goes on where it was,
 * and what was said is there once.
 *
 * MCPX_E2E_CLIENTS (200) is how many there are; MCPX_E2E_BACK_MS (15000, for busy machines) how long
 * it may take from the signal until the last one is back.
 */
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { test } from 'node:test';
import { Disk } from './lib/disk.mjs';
import { inTime, pause } from './lib/router.mjs';
import { historyOf, untilAllHeard, Witness, Writer, writersOf } from './lib/witness.mjs';

const CLIENTS = Number(process.env.MCPX_E2E_CLIENTS ?? 200);
const SEATS = 40; /* in one topic */
const BACK_MS = Number(process.env.MCPX_E2E_BACK_MS ?? 15000);


function crowd() {
  return Array.from({ length: CLIENTS }, (_, i) => {
    const topic = `room-${Math.floor(i / SEATS)}`;
    return i % SEATS < 2 ? new Writer(`w${i}`, topic) : new Witness(`r${i}`, topic);
  });
}

/** Waits until it is sent away, and comes back when it was told to. Returns that pause. */
async function comesBack(one, router) {
  const { code, reason } = await one.seat.untilClosed();
  const [, told] = /^the router is going away; retry_after_ms=(\d+)$/.exec(reason) ?? [];
  assert.equal(code, 1001, `${one.id}: ${reason}`);
  assert.ok(told, `${one.id} is not told when to come back: ${reason}`);
  await pause(Number(told));
  await one.join(router); /* at the first attempt, or this fails */
  if (one instanceof Writer) one.again();
  return Number(told);
}

/** A request on a connection of its own; its status. */
function knock(router) {
  const request = get(`${router.http}/livez`, { agent: false });
  const answered = new Promise((done, fail) => {
    request.once('response', (response) => done(response.resume().statusCode)).once('error', fail);
  });
  return inTime(answered, 'a request is not answered');
}

/** Asks again and again, until `state.isOver`, whether anybody is there; how often it was answered. */
async function knocks(router, state) {
  let count = 0;
  for (; !state.isOver; count += 1) assert.equal(await knock(router), 200);
  return count;
}

test(`restarted under ${CLIENTS} clients: nobody is refused, nothing is lost or doubled`, async (t) => {
  const disk = await Disk.make();
  const router = await disk.start({ isActivated: true });
  t.after(() => router.stop().finally(() => disk.remove()));
  const people = crowd();
  for (let at = 0; at < people.length; at += 50) {
    await Promise.all(people.slice(at, at + 50).map((one) => one.join(router)));
  }
  for (const one of writersOf(people)) one.talk(2);
  await pause(300);
  const state = { isOver: false };
  const knocking = knocks(router, state);
  const begin = performance.now();
  router.restart();
  const told = await Promise.all(people.map((one) => comesBack(one, router)));
  const took = Math.round(performance.now() - begin);
  state.isOver = true;
  const knocked = await knocking;
  await untilAllHeard(people);
  for (const topic of new Set(people.map((one) => one.topic))) {
    const texts = await historyOf(router, topic, await router.token('auditor', topic, ['*']));
    for (const one of people.filter((each) => each.topic === topic)) {
      assert.deepEqual(one.seen, texts, `${one.id} of ${topic}`);
    }
  }
  assert.equal(new Set(told).size, CLIENTS, 'each is told another time');
  assert.ok(Math.max(...told) < Math.max(CLIENTS, 1000), 'a thousand in a second');
  t.diagnostic(`all back after ${took} ms; ${knocked} other requests answered meanwhile`);
  assert.ok(took < BACK_MS, `all back after ${took} ms`);
  await Promise.all(people.map((one) => one.leave()));
});
