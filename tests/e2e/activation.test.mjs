/*
 * The story: systemd holds the listening socket, and the router is restarted under everybody who is
 * there and talks. Nobody is refused, each comes back when it was told to and goes on where it was,
 * and what was said is there once.
 *
 * MCPX_E2E_CLIENTS (200) is how many there are; MCPX_E2E_BACK_MS (15000, for busy machines) how long
 * it may take from the signal until the last one is back. Ten thousand need 21,280 open files here
 * and in the router (ulimit -n), and have one process and one address between them: no more than 50
 * talk all the time, or this process would do nothing but listen, and no more than 500 come in at a
 * time, because after a pause of this process more than 1,024 would knock at once, and then the
 * router takes them for somebody who wants to keep others out.
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
const TALKERS = 50;
const UNDER_WAY = 500;

/** Through it goes what is to be done, by so many at a time. */
function doorOf(places) {
  let free = places;
  const waiting = [];
  return async (go) => {
    if (free > 0) free -= 1;
    else await new Promise((done) => { waiting.push(done); });
    await go();
    if (waiting.length > 0) waiting.shift()();
    else free += 1;
  };
}

const door = doorOf(UNDER_WAY);

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
  await door(() => one.join(router)); /* at the first attempt, or this fails */
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
  const disk = await Disk.makeFor(t);
  const router = await disk.start({ isActivated: true });
  const people = crowd();
  await Promise.all(people.map((one) => door(() => one.join(router))));
  await untilAllHeard(people); /* a topic in which nothing was said is not kept */
  for (const one of writersOf(people).slice(0, TALKERS)) one.talk(2);
  await pause(300);
  const state = { isOver: false };
  const knocking = knocks(router, state);
  const begin = performance.now();
  router.restart();
  const told = await Promise.all(people.map((one) => comesBack(one, router)));
  const took = Math.round(performance.now() - begin);
  state.isOver = true;
  const knocked = await knocking;
  const [, seconds] = /^process_cpu_seconds_total (.*)$/m.exec((await router.get('/metrics')).text);
  await untilAllHeard(people);
  for (const topic of new Set(people.map((one) => one.topic))) {
    const texts = await historyOf(router, topic, await router.token('auditor', topic, ['*']));
    for (const one of people.filter((each) => each.topic === topic)) {
      assert.deepEqual(one.seen, texts, `${one.id} of ${topic}`);
    }
  }
  assert.equal(new Set(told).size, CLIENTS, 'each is told another time');
  assert.ok(Math.max(...told) < Math.max(CLIENTS, 1000), 'a thousand in a second');
  t.diagnostic(`all back after ${took} ms, for which the router has computed for ${Math.round(seconds * 1000)} ms; `
    + `${knocked} other requests answered meanwhile`);
  assert.ok(took < BACK_MS, `all back after ${took} ms`);
  await Promise.all(people.map((one) => one.leave()));
});
