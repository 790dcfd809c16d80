/*
 * The story: a day at the office, in a minute. Three servers at a table, a desk that calls them, a
 * desk that may only propose, a person who decides, and somebody who watches. Meanwhile the router
 * is stopped and started, killed and started, and a bridge and a server are killed. Whoever
 * called is answered, or told why not, before his own patience ends; what is carried out is
 * carried out once; and when all have gone home nothing is left behind.
 *
 * MCPX_E2E_MINUTES (1) is how long it goes on.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { EXPOSE_GRANTS, PROPOSER_GRANTS, exposePipe, untilTools } from './lib/expose.mjs';
import { folderFor } from './lib/folder.mjs';
import { readyImport, serverOf, startImport } from './lib/import.mjs';
import { Participant } from './lib/participant.mjs';
import { descendants, Program, untilGone } from './lib/program.mjs';
import { ownServer } from './lib/room.mjs';
import { DEADLINE_MS, eventually, freePort, pause, Router } from './lib/router.mjs';
import { callOf } from './lib/wire.mjs';

const MINUTES = Number(process.env.MCPX_E2E_MINUTES ?? 1);
const TOPIC = 'office';
const SERVERS = ['ann', 'bob', 'cid'];
/* The bridges' patience is shorter than the callers', so it is they who say what went wrong. */
const CALL_S = 10;
const PROPOSAL_S = 15;
const CALLER_MS = 2 * PROPOSAL_S * 1000 + DEADLINE_MS;
/* Tokens outlive a router. */
const ENV = { MCPX_AUTH_JWT_SECRET: randomUUID() };

/** A person who decides: approves two proposals of three, rejects the third, each once. */
class Person {
  decided = { approved: 0, rejected: 0 };
  #known = new Set();
  #unheard = new Map(); /* what was sent and not echoed yet: sent again after a break */
  #stopped = false;
  #seat;

  static async begin(router, token) {
    const person = new Person();
    person.running = person.#work(router, token);
    return person;
  }

  async #work(router, token) {
    while (!this.#stopped) {
      try {
        this.#seat = await Participant.join(router(), { id: 'boss', topic: TOPIC, token });
      } catch {
        await pause(200);
        continue;
      }
      for (const text of this.#unheard.values()) this.#seat.sendText(text);
      this.#seat.listen((envelope) => this.#hear(envelope));
      await new Promise((done) => {
        this.#seat.onclose = done;
        if (this.#seat.closed || this.#stopped) done();
      });
    }
  }

  #hear({ id, from, to, kind, payload }) {
    this.#unheard.delete(id);
    if (!kind.startsWith('mcp/proposal:') || this.#known.has(id)) return;
    this.#known.add(id);
    const approves = this.#known.size % 3 !== 0;
    this.decided[approves ? 'approved' : 'rejected'] += 1;
    this.#say(approves
      ? { kind: kind.replace('proposal', 'request'), to, correlation_id: id,
        payload: { jsonrpc: '2.0', id: this.#known.size, ...payload } }
      : { kind: 'mcp/reject', to: [from], correlation_id: id, payload: { reason: 'no' } });
  }

  #say(envelope) {
    const id = randomUUID();
    const text = JSON.stringify({ protocol: 'mcpx/v0.1', id, ...envelope });
    this.#unheard.set(id, text);
    if (!this.#seat.closed) this.#seat.sendText(text);
  }

  async stop() {
    this.#stopped = true;
    await this.#seat?.close();
    await this.running;
  }
}

/** Somebody at a desk: calls one server after the other and keeps what came of each call. */
async function caller(desk, goesOn, outcomes) {
  for (let turn = 0; goesOn(); turn += 1) {
    const key = randomUUID();
    const request = callOf(key, `${SERVERS[turn % SERVERS.length]}__note`, { key, ms: turn % 10 === 0 ? 200 : 0 });
    const began = Date.now();
    const { result, error } = JSON.parse(await desk.call(request, CALLER_MS));
    if (Date.now() - began > CALLER_MS) throw new Error(`${key} was answered too late`);
    if (result && !result.isError) {
      assert.deepEqual(result, { content: [{ type: 'text', text: key }] });
      outcomes.done.push(key);
      outcomes.latest.set(SERVERS[turn % SERVERS.length], Date.now());
    } else {
      const why = error?.message ?? result.content[0].text;
      assert.match(why, /\S/, 'a reason is given');
      outcomes.failed.set(why.replace(/[0-9a-f-]{36}|\d+/g, '#'),
        (outcomes.failed.get(why.replace(/[0-9a-f-]{36}|\d+/g, '#')) ?? 0) + 1);
      await pause(50); /* a caller that is refused does not call a thousand times a second */
    }
  }
}

/** Waits until nobody is connected to the router any more. */
async function untilEmpty(router) {
  await eventually(async () => await router.metric('mcpx_connections') === 0, 'somebody is connected to the router');
}

test(`${MINUTES} min of everything at once: answered, once, and nothing left behind`, async (t) => {
  const folder = folderFor(t);
  const file = join(folder, 'ledger');
  writeFileSync(file, '');
  const server = ownServer('ledger_server', file);

  const args = ['--listen', `127.0.0.1:${await freePort()}`];
  let router = await Router.start({ env: ENV, args });
  t.after(() => router.stop());
  const again = async () => {
    router = await Router.start({ env: ENV, args });
  };

  /* One of them is killed on purpose, so it is here that they are stopped. */
  const imports = {};
  const mine = { after() {} };
  for (const name of SERVERS) imports[name] = await readyImport(mine, router, TOPIC, name, server);
  const options = ['--timeout', String(CALL_S), '--proposal-timeout', String(PROPOSAL_S)];
  const desk = await exposePipe(t, router, TOPIC, 'desk', { grants: EXPOSE_GRANTS, options });
  const asker = await exposePipe(t, router, TOPIC, 'asker', { grants: PROPOSER_GRANTS, options });
  const watch = Program.start('mcpxctl', ['watch', '--json', '--url', router.url, '--topic', TOPIC],
    { env: { MCPX_TOKEN: await router.token('eye', TOPIC, []) }, stdout: 'pipe' });
  t.after(() => watch.kill('SIGKILL'));
  let seen = 0;
  createInterface({ input: watch.stdout }).on('line', () => { seen += 1; });
  const boss = await Person.begin(() => router, await router.token('boss', TOPIC,
    ['mcp/request:*', 'mcp/reject']));

  for (const one of [desk, asker]) await untilTools(one, ...SERVERS.map((name) => `${name}__note`));

  const until = Date.now() + MINUTES * 60000;
  const outcomes = { done: [], failed: new Map(), latest: new Map() };
  const proposed = { done: [], failed: new Map(), latest: new Map() };
  const step = MINUTES * 60000 / 6;
  let quiet = Infinity; /* when the last of them was ended */
  const cameBack = ({ latest }) => SERVERS.every((name) => latest.get(name) > quiet);
  /* Until the day is over, and, on a slow machine, until all have come back. */
  const goesOn = () => Date.now() < until
    || (!(cameBack(outcomes) && cameBack(proposed)) && Date.now() < until + DEADLINE_MS);
  const callers = Promise.all([
    ...Array.from({ length: 4 }, () => caller(desk, goesOn, outcomes)),
    ...Array.from({ length: 3 }, () => caller(asker, goesOn, proposed))]);
  const events = (async () => {
    await pause(step);
    await router.stop();
    await again();
    await pause(step);
    const family = descendants(imports.bob.pid);
    imports.bob.kill('SIGKILL');
    await imports.bob.end();
    await untilGone(family);
    imports.bob = await startImport(mine, router, TOPIC, 'bob', server);
    await pause(step);
    await router.kill();
    await again();
    await pause(step);
    process.kill(serverOf(imports.cid, 'ledger_server').pid, 'SIGKILL');
    quiet = Date.now();
  })();
  await Promise.all([callers, events]);

  const ledger = readFileSync(file, 'utf8').trim().split('\n');
  assert.equal(new Set(ledger).size, ledger.length, 'nothing is carried out twice');
  const written = new Set(ledger);
  for (const key of [...outcomes.done, ...proposed.done]) {
    assert.ok(written.has(key), `${key} was answered and not carried out`);
  }
  for (const [what, { done, failed, latest }] of Object.entries({ called: outcomes, proposed })) {
    for (const name of SERVERS) assert.ok(latest.get(name) > quiet, `${what}: '${name}' came back`);
    t.diagnostic(`${what}: ${done.length} done; ${[...failed].map(([why, count]) =>
      `${count} x ${why}`).join('; ') || 'none failed'}`);
    assert.ok(done.length > 10 * MINUTES, `${what}: ${done.length} done`);
  }
  t.diagnostic(`decided: ${JSON.stringify(boss.decided)}; watched: ${seen} lines`);
  assert.ok(seen > 0);

  await boss.stop();
  watch.kill();
  assert.deepEqual(await watch.end(), { code: 130, signal: null }, watch.log);
  await Promise.all([desk.close(), asker.close(),
    ...Object.values(imports).map((bridge) => bridge.stop())]);
  await untilEmpty(router);
});
