/*
 * One participant of many makes an imported server send too much for MCPX_E2E_LOUD_SECONDS (5): ten
 * answers of 7 MB a second, or notifications without end. The calls of the others are answered as
 * before: from 30 seconds on p99 is at most twice what it was, or 20 ms if that is more. Below that,
 * and beside other tests, none takes longer than six seconds: without turns that is 15 to 60.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startImport } from './lib/import.mjs';
import { ownServer, Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { rpc } from './lib/wire.mjs';

const SECONDS = Number(process.env.MCPX_E2E_LOUD_SECONDS ?? 5);
const LOUD = ownServer('patient_server');

const router = await Router.startFor({ after });

/** Calls for so long, one call after the other; says how long they took, in milliseconds. */
async function measure(seat) {
  const took = [];
  for (const end = performance.now() + SECONDS * 1000; performance.now() < end;) {
    const begin = performance.now();
    await seat.call(rpc(took.length, 'count'));
    took.push(performance.now() - begin);
    await pause(10); /* a hundred a second is what the router lets one ask */
  }
  took.sort((a, b) => a - b);
  const at = (part) => Math.round(took[Math.floor(took.length * part)]);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), worst: Math.round(took.at(-1)),
    calls: took.length };
}

const ATTACKS = [
  { name: 'answers of 7 MB', options: [], every: 100, method: 'large' },
  { name: 'answers of 7 MB from a process of one\'s own', options: ['--isolate'], every: 100,
    method: 'large' },
  { name: 'notifications without end', options: ['--isolate'], every: 0, method: 'chatter' },
  { name: 'as many calls as one may make', options: [], every: 10, method: 'count' },
];

for (const { name, options, every, method } of ATTACKS)
  test(`${name} make nobody else wait`, async (t) => {
    const room = new Room(t, router);
    const bridge = await startImport(t, router, room.topic, 'server', LOUD,
      { options: ['--protocol', '2025-11-25', ...options] });
    const ann = await room.seat('ann', ['mcp/*'], 'server', { query: { routing: 'directed' } });
    const quiet = await measure(ann);
    const mallory = new Worker(new URL('lib/loud_caller.mjs', import.meta.url), { workerData: {
      url: `${router.url}?topic=${room.topic}&routing=directed`, peer: 'server', method, every,
      token: await router.token('mallory', room.topic, ['mcp/*']) } });
    t.after(() => mallory.terminate());
    const loud = await measure(ann);
    t.diagnostic(`quiet ${JSON.stringify(quiet)}, loud ${JSON.stringify(loud)}`);
    if (SECONDS >= 30) assert.ok(loud.p99 <= Math.max(2 * quiet.p99, 20), bridge.log);
    else assert.ok(loud.worst <= Math.max(2 * quiet.worst, 6000), bridge.log);
  });
