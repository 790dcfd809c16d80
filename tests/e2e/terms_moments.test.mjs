/*
 * The story: a room in which people and a program behind an `expose` call the tools of an imported
 * server, all at once, while everything that can end does so at moments that nobody chose: the
 * server is killed or hangs, callers change their minds, the router goes away, both bridges are told
 * to stop. Whatever happened, each call has one result in the log of each edge that it reached.
 *
 * MCPX_E2E_MOMENTS (40) is how many moments there are, MCPX_E2E_SEED repeats those of a run; what
 * happens between them is up to the machine. docs/contracts.md, "Call logs".
 */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { EXPOSE_GRANTS } from './lib/expose.mjs';
import { IMPORT_GRANTS } from './lib/import.mjs';
import { Participant } from './lib/participant.mjs';
import { Program, descendants } from './lib/program.mjs';
import { source } from './lib/random_schema.mjs';
import { ownServer } from './lib/room.mjs';
import { eventually, freePort, people, Router, tokenOf } from './lib/router.mjs';
import { rpc, Seat } from './lib/wire.mjs';

const MOMENTS = Number(process.env.MCPX_E2E_MOMENTS ?? 40);
const SEED = Number(process.env.MCPX_E2E_SEED ?? randomInt(2 ** 31));
const ROOMS = 3; /* at one time, each with a router of its own */
const UNDER_WAY = 6; /* calls of one caller */

const PEOPLE = { server: IMPORT_GRANTS, desk: EXPOSE_GRANTS, ann: ['mcp/*'], bob: ['mcp/*'] };
const config = { participants: people(PEOPLE) };

/** What is called: mostly what ends by itself, and now and then what never does. */
const CALLS = [['add', { a: 1, b: 2 }], ['add', { a: 1 }], ['old.add', { a: 1, b: 2 }], ['lie', {}],
  ['fail', {}], ['add', { a: 2, b: 2 }], ['wait', {}]];

/**
 * Keeps calls under way until it is stopped. `way` says how they travel: `send(id, name, args)`
 * returns what the log calls the call, `cancel(id, key)` takes one back.
 */
class Caller {
  /** What the log has to have, because the edge answered it. */
  answered = new Set();
  sent = new Set();
  #open = new Map();
  #last = 0;
  #over = false;

  constructor(way, random) {
    this.way = way;
    this.random = random;
  }

  start() {
    this.work = this.#run();
  }

  async #run() {
    while (!this.#over) {
      if (this.#open.size < UNDER_WAY) this.#call();
      await pause(this.random(4));
    }
  }

  #call() {
    const id = this.#last += 1;
    const [name, args] = CALLS[this.random(CALLS.length)];
    const key = this.way.send(id, name, args);
    this.sent.add(key);
    this.#open.set(key, id);
    if (name === 'wait' && this.random(2)) setTimeout(() => this.#cancel(key), this.random(50));
  }

  #cancel(key) {
    if (this.#open.has(key)) this.way.cancel(this.#open.get(key), key);
    this.#open.delete(key);
  }

  /** Takes back everything at once. */
  cancelAll() {
    for (const key of [...this.#open.keys()]) this.#cancel(key);
  }

  hear(key) {
    if (this.sent.has(key)) this.answered.add(key);
    this.#open.delete(key);
  }

  /** It was refused on its way, and no edge has it. */
  drop(key) {
    this.#open.delete(key);
  }

  /** What was under way will not be answered any more. */
  forget() {
    this.#open.clear();
  }

  async stop() {
    this.#over = true;
    await this.work;
  }
}

/** A caller in the topic: the id of its call is that of the envelope. */
class Guest extends Caller {
  constructor(id, random) {
    super({
      send: (number, name, args) =>
        this.seat.write(rpc(number, 'tools/call', { name, arguments: args })),
      cancel: (number, key) => this.seat.write(rpc(undefined, 'notifications/cancelled',
        { requestId: number }), { correlation_id: key }),
    }, random);
    this.id = id;
  }

  async join(router, topic) {
    const participant = await Participant.join(router,
      { id: this.id, topic, token: tokenOf(this.id) });
    participant.listen(({ from, kind, payload, correlation_id: about }) => {
      if (from === 'server') this.hear(about);
      else if (kind === 'system/error') this.drop(about);
      /* What was sent before it was there, nobody has. */
      else if (kind === 'system/presence' && payload.participant.id === 'server') this.forget();
    });
    this.seat = new Seat(participant, 'server');
    this.forget();
  }
}

/** A caller behind an expose: it names its calls itself. */
class Client extends Caller {
  constructor(bridge, random) {
    const prefix = randomUUID();
    const write = (line) => bridge.ended || bridge.stdin.write(`${line}\n`);
    bridge.stdin.on('error', () => {}); /* it has ended, as it was told to */
    write(rpc('hello', 'initialize', { protocolVersion: '2025-11-25', capabilities: {},
      clientInfo: { name: 'client', version: '1' } }));
    write(rpc(undefined, 'notifications/initialized'));
    super({
      send: (number, name, args) => {
        const key = `${prefix}-${number}`;
        write(rpc(number, 'tools/call', { name: name.replace(/^(old\.)?/, '$1server__'),
          arguments: args, _meta: { request_id: key } }));
        return key;
      },
      cancel: (number) => write(rpc(undefined, 'notifications/cancelled', { requestId: number })),
    }, random);
    createInterface({ input: bridge.stdout }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (method === undefined && id !== 'hello') this.hear(`${prefix}-${id}`);
    });
  }
}

/** Each line of a log, whichever file it is in. */
function linesOf(dir, log) {
  return readdirSync(join(dir, log), { withFileTypes: true }).filter((entry) => entry.isFile())
    .flatMap(({ name }) => readFileSync(join(dir, log, name), 'utf8').split('\n'))
    .filter((line) => line).map((line) => JSON.parse(line));
}

/** What the log of an edge has to say about its callers; returns how many calls it has. */
function assertKept(what, dir, callers, strangers) {
  const calls = new Map();
  for (const { eventName, requestId } of linesOf(dir, 'telemetry')) {
    if (eventName === 'mcp.tool.call') {
      assert.ok(!calls.has(requestId), `${what}: two calls ${requestId}`);
      calls.set(requestId, 0);
    } else if (eventName === 'mcp.tool.result') {
      assert.equal(calls.get(requestId), 0, `${what}: a result too many, or too early: ${requestId}`);
      calls.set(requestId, 1);
    }
  }
  const open = [...calls].filter(([, results]) => results !== 1).map(([id]) => id);
  assert.deepEqual(open, [], `${what}: calls without a result`);
  /* A call by an alias, of a caller that has left, is denied before its event, as is one of no tool. */
  const lines = linesOf(dir, 'envelope_validation').filter(({ tool, error, requestId }) => tool !== null &&
    (error?.cause !== 'denied' || calls.has(requestId))).map(({ requestId }) => requestId);
  assert.deepEqual(lines.sort(), [...calls.keys()].sort(), `${what}: lines and calls`);
  const noted = new Set(linesOf(dir, 'envelope_validation').map(({ requestId }) => requestId));
  for (const { answered, sent } of callers) {
    assert.deepEqual([...answered].filter((id) => !noted.has(id)), [], `${what}: answered, not logged`);
    for (const id of sent) strangers.delete(id);
  }
  const own = new Set(callers.flatMap(({ sent }) => [...sent]));
  assert.deepEqual([...calls.keys()].filter((id) => !own.has(id) && !strangers.has(id)), [],
    `${what}: calls that nobody made`);
  return calls.size;
}

/** One life of both bridges in a room, with `moments`, the last of which is its end. */
class Life {
  constructor(stage, moments, random) {
    Object.assign(this, { stage, moments, random, topic: `room-${randomUUID()}` });
    this.dirs = ['import', 'expose'].map((mode) => mkdtempSync(join(tmpdir(), `mcpx-${mode}-`)));
  }

  #bridge(mode, id, dir, options, rest = []) {
    const terms = { log: { dir }, ...(mode === 'import' && { aliases: { namespace: 'old' } }) };
    return Program.start('mcpx-bridge', [mode, '--url', this.stage.router.url, '--topic', this.topic,
      '--contracts', JSON.stringify(terms), mode === 'import' ? '--request-timeout' : '--timeout', '1', ...rest],
    { env: { MCPX_TOKEN: tokenOf(id) }, ...options });
  }

  #serverPid() {
    return eventually(() => descendants(this.server.pid).find(({ command }) =>
      command.includes('counting_server') && !command.includes('mcpx-bridge'))?.pid,
    () => `no server\n${this.server.log}`);
  }

  async #signal(...signals) {
    const pid = await this.#serverPid();
    for (const signal of signals) {
      await pause(this.random(60));
      try {
        process.kill(pid, signal);
      } catch (error) {
        assert.equal(error.code, 'ESRCH');
      }
    }
  }

  happenings = {
    kill: () => this.#signal('SIGKILL'),
    hang: () => this.#signal('SIGSTOP'),
    stutter: async () => {
      await this.#signal('SIGSTOP');
      await pause(this.random(1200)); /* perhaps longer than --request-timeout */
      await this.#signal('SIGCONT');
    },
    cancel: () => this.callers[this.random(this.callers.length)].cancelAll(),
    router: async () => {
      await this.stage.restart(this.random(2) ? 'kill' : 'stop');
      await Promise.all(this.guests.map((guest) => guest.join(this.stage.router, this.topic)));
    },
  };

  async run(tally) {
    const { random } = this;
    this.server = this.#bridge('import', 'server', this.dirs[0], {},
      ['--', ...ownServer('counting_server')]);
    this.desk = this.#bridge('expose', 'desk', this.dirs[1], { stdin: 'pipe', stdout: 'pipe' });
    await this.server.until(/joined as/);
    this.guests = ['ann', 'bob'].map((id) => new Guest(id, random));
    await Promise.all(this.guests.map((guest) => guest.join(this.stage.router, this.topic)));
    this.client = new Client(this.desk, random);
    this.callers = [...this.guests, this.client];
    for (const caller of this.callers) caller.start();
    try {
      for (let moment = 1; moment < this.moments; moment += 1) {
        await pause(random(300));
        const names = Object.keys(this.happenings);
        const name = names[random(names.length)];
        await this.happenings[name]();
        tally[name] = (tally[name] ?? 0) + 1;
      }
      await pause(random(300));
      await this.#goOn();
    } finally {
      await this.#end();
    }
    tally.end = (tally.end ?? 0) + 1;
    this.#judge(tally);
  }

  /** Whoever called is still calling: what nobody answers, a caller knows of. */
  #goOn() {
    const before = this.callers.map(({ sent }) => sent.size);
    return eventually(() => this.callers.every(({ sent }, i) => sent.size > before[i]),
      () => `calls before: ${before}, now: ${this.callers.map(({ sent }) => sent.size)}\n${this.server.log}`);
  }

  async #end() {
    const ends = [this.server, this.desk];
    for (const bridge of this.random(2) ? ends : ends.reverse()) {
      bridge.kill('SIGTERM');
      await pause(this.random(40));
    }
    const codes = await Promise.all(ends.map((bridge) => bridge.end()));
    await Promise.all(this.callers.map((caller) => caller.stop()));
    await Promise.all(this.guests.map(({ seat }) => seat.participant.close()));
    assert.deepEqual(codes, [{ code: 0, signal: null }, { code: 0, signal: null }],
      ends.map(({ log }) => log).join('\n'));
  }

  #judge(tally) {
    const [server, desk] = this.dirs;
    const imported = assertKept(`import, ${server}`, server, this.guests, new Set(this.client.sent));
    const exposed = assertKept(`expose, ${desk}`, desk, [this.client], new Set());
    tally.imported = (tally.imported ?? 0) + imported;
    tally.exposed = (tally.exposed ?? 0) + exposed;
    for (const dir of this.dirs) rmSync(dir, { recursive: true });
  }
}

/** A router that can be restarted where it is. */
class Stage {
  async start() {
    this.port ??= await freePort();
    this.router = await Router.start({ config,
      args: ['--dev', '--listen', `127.0.0.1:${this.port}`] });
  }

  async restart(how) {
    await this.router[how]();
    await this.start();
  }
}

test('each call has one result in each log, whatever ends at whatever moment', async (t) => {
  t.diagnostic(`MCPX_E2E_SEED=${SEED} MCPX_E2E_MOMENTS=${MOMENTS}`);
  const tally = {};
  let left = MOMENTS;
  const room = async (_, index) => {
    const random = source(SEED + index);
    const stage = new Stage();
    await stage.start();
    try {
      while (left > 0) {
        const moments = Math.min(left, 2 + random(4));
        left -= moments;
        await new Life(stage, moments, random).run(tally);
      }
    } finally {
      await stage.router.stop();
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: ROOMS }, room));
  for (const { reason } of ends) if (reason) throw reason;
  t.diagnostic(JSON.stringify(tally));
  assert.ok(tally.imported > MOMENTS && tally.exposed > 0, JSON.stringify(tally));
});
