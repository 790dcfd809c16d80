/*
 * Two ordinary clients, each behind a bridge, call each other's server MCPX_E2E_CALLS times (10000),
 * fifty calls at a time in each direction. Each call gets its own answer, also when the router is
 * restarted meanwhile. What it cost is printed; see docs/performance.md.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exposePipe, untilTools } from './lib/expose.mjs';
import { folderFor } from './lib/folder.mjs';
import { readyImport } from './lib/import.mjs';
import { ownServer } from './lib/room.mjs';
import { Router, freePort } from './lib/router.mjs';
import { callOf, Pipe } from './lib/wire.mjs';

const CALLS = Number(process.env.MCPX_E2E_CALLS ?? 10000);
const AT_ONCE = 50;
const ROUNDS = 9;
/* Nobody is slowed down, and tokens outlive a router. */
const ENV = { MCPX_LIMITS_MESSAGES_PER_MINUTE: '0', MCPX_AUTH_JWT_SECRET: randomUUID() };
const SERVER = ownServer('echo_server');

const router = await Router.startFor({ after }, { env: ENV });

/** Processor time of a process so far, in microseconds. */
function busy(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, ns) => sum + ns, 0) / 1000;
}

/** What `echo` is asked with, and the only answer to it. */
function echoed(id) {
  const text = `${id} ${randomUUID()}`;
  return { args: { text }, check: (answer) => assert.equal(answer,
    JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })) };
}

/** The same with rows, 1 KiB of them; terms may have put the answer into an envelope. */
function rowsOf(id) {
  const rows = Array.from({ length: 14 }, (_, at) =>
    ({ id: id * 100 + at, name: randomUUID(), price: at + 0.25 }));
  return { args: { rows }, check: (answer) => {
    const { id: about, result: { structuredContent: value } } = JSON.parse(answer);
    assert.equal(about, id);
    assert.deepEqual((value.data ?? value).rows, rows);
  } };
}

/** Keeps `atOnce` calls under way through `pipe`; returns how long each took, in milliseconds. */
async function callAll(pipe, tool, calls,
  { answered = () => {}, make = echoed, atOnce = AT_ONCE } = {}) {
  const took = [];
  let next = 0;
  async function caller() {
    while (next < calls) {
      const id = next++;
      const { args, check } = make(id);
      const began = performance.now();
      const answer = await pipe.call(callOf(id, tool, args));
      took.push(performance.now() - began);
      check(answer);
      answered(took.length);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller));
  return took;
}

/** All calls, shared by `ways`: [pipe, tool]. Returns what it took, as a sentence. */
async function race(ways) {
  const began = performance.now();
  const took = (await Promise.all(ways.map(([pipe, tool]) =>
    callAll(pipe, tool, CALLS / ways.length)))).flat().sort((a, b) => a - b);
  const seconds = (performance.now() - began) / 1000;
  assert.equal(took.length, CALLS);
  const at = (share) => `${took[Math.ceil(took.length * share) - 1].toFixed(1)} ms`;
  return `${Math.round(CALLS / seconds)} calls a second; p50 ${at(0.5)}, p90 ${at(0.9)}, `
    + `p99 ${at(0.99)}, longest ${at(1)}`;
}

test(`${CALLS} calls, fifty at a time each way: everyone gets what is his`, async (t) => {
  const topic = 'busy';
  const servers = ['ann', 'bob'];
  const imports = await Promise.all(servers.map((name) => readyImport(t, router, topic, name, SERVER)));
  const desks = await Promise.all(servers.map((name) =>
    exposePipe(t, router, topic, `desk of ${name}`)));
  const programs = { router: [router.pid], 'each import': imports.map(({ pid }) => pid),
    'each expose': desks.map(({ pid }) => pid) };
  for (const desk of desks) await untilTools(desk, ...servers.map((name) => `${name}__echo`));

  const before = Object.values(programs).flat().map((pid) => [pid, busy(pid)]);
  t.diagnostic(await race(desks.map((desk, at) => [desk, `${servers[1 - at]}__echo`])));
  const spent = new Map(before.map(([pid, us]) => [pid, busy(pid) - us]));
  for (const [name, pids] of Object.entries(programs)) {
    const share = CALLS / pids.length; /* each bridge carries half of the calls */
    const us = pids.map((pid) => (spent.get(pid) / share).toFixed(0));
    t.diagnostic(`processor time per call, ${name}: ${us.join(', ')} µs`);
  }
});

test('the same without a room, to compare with', async (t) => {
  const pipes = await Promise.all([0, 1].map(() => Pipe.open(SERVER[0], SERVER.slice(1))));
  t.after(() => Promise.all(pipes.map((pipe) => pipe.close())));
  t.diagnostic(await race(pipes.map((pipe) => [pipe, 'echo'])));
});

/** Processor time that each import spends on a call while `calls` of them go through its desk. */
async function costOf(places, calls, atOnce) {
  const costs = [];
  for (const { bridge, desk } of places) {
    const before = busy(bridge.pid);
    const took = await callAll(desk, 'ann__echo', calls, { make: rowsOf, atOnce });
    assert.equal(took.length, calls);
    costs.push((busy(bridge.pid) - before) / calls);
  }
  return costs;
}

test('what terms add to a call of 1 KiB each way, in turn with calls that have none', async (t) => {
  const dir = folderFor(t);
  const terms = JSON.stringify({ result: 'response.v1', log: { dir } });
  const places = [];
  for (const options of [[], ['--contracts', terms]]) {
    const topic = `terms-${places.length}`;
    const bridge = await readyImport(t, router, topic, 'ann', [...SERVER, 'rows'], { options });
    const desk = await exposePipe(t, router, topic, 'desk');
    await untilTools(desk, 'ann__echo');
    places.push({ bridge, desk });
  }
  for (const atOnce of [1, AT_ONCE]) {
    const calls = Math.ceil(CALLS / (10 * ROUNDS));
    const rounds = [];
    for (let round = 0; round <= ROUNDS; round++) rounds.push(await costOf(places, calls, atOnce));
    const counted = rounds.slice(1); /* the first is for warming up */
    const median = (of) => counted.map(of).sort((a, b) => a - b)[ROUNDS >> 1];
    t.diagnostic(`processor time per call, import, ${atOnce} at once: `
      + `${median(([plain]) => plain).toFixed(1)} µs, under terms `
      + `${median(([, under]) => under).toFixed(1)} µs; `
      + `ratio ${median(([plain, under]) => under / plain).toFixed(2)}, the median of ${ROUNDS} rounds`);
  }
  assert.equal(readFileSync(join(dir, 'telemetry', 'telemetry.latest.jsonl'), 'utf8')
    .match(/"mcp.tool.result"/g).length, 2 * (ROUNDS + 1) * Math.ceil(CALLS / (10 * ROUNDS)));
});

test('calls go on while the router is stopped and started again, three times', async (t) => {
  const args = ['--listen', `127.0.0.1:${await freePort()}`];
  let current = await Router.start({ env: ENV, args });
  t.after(() => current.stop());
  await readyImport(t, current, 'restless', 'ann', SERVER);
  const desk = await exposePipe(t, current, 'restless', 'desk');
  await untilTools(desk, 'ann__echo');
  let turns = 0;
  let turn = Promise.resolve();
  const took = await callAll(desk, 'ann__echo', 2000, { answered: (answers) => {
    if (answers % 500 !== 0 || answers === 2000) return;
    turns += 1;
    turn = turn.then(() => current.stop()).then(async () => {
      current = await Router.start({ env: ENV, args });
    });
  } });
  await turn;
  assert.deepEqual([took.length, turns], [2000, 3]);
  t.diagnostic(`longest ${(Math.max(...took) / 1000).toFixed(1)} s`);
});
