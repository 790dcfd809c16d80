/*
 * The story: six servers in a room, as real ones are. One crashes at its start until somebody mends
 * it, one is slow, one floods with list changes, one writes Latin-1, two (from npm) share their
 * names and URIs. Two people with clients of either generation of the official SDK and a script with
 * mcpxctl call them all afternoon, while router, bridges and servers are killed and started again.
 * Nobody gets another's result, no list is empty that is not, and whoever fails hears who and why.
 *
 * MCPX_E2E_MINUTES (1) is how long it goes on.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXPOSE_GRANTS, exposeCommand, GENERATIONS } from './lib/expose.mjs';
import { folderFor } from './lib/folder.mjs';
import { serverOf, startImport } from './lib/import.mjs';
import { descendants, mcpxctl, untilGone } from './lib/program.mjs';
import { ownServer, serverProgram } from './lib/room.mjs';
import { eventually, freePort, inTime, pause, Router } from './lib/router.mjs';

const MINUTES = Number(process.env.MCPX_E2E_MINUTES ?? 1);
const TOPIC = 'room';
const STEP_MS = 4000;
const SHARED = 'demo://resource/static/document/architecture.md';
const everything = [process.execPath, serverProgram('server-everything')];
const TWINS = ['ann', 'bob'];
const OTHERS = ['broken', 'slow', 'flooding', 'latin'];

/** What came of everything: counts of results, reasons of failures. */
const outcomes = { results: 0, lists: 0, commands: 0, reasons: new Map() };

/** Who fails says which server or that it is the router (by its URL, too), and a word more. */
function failed(who, why) {
  assert.match(why, new RegExp(`${who}|router|ws://|connection|the server is gone: `, 'i'), `a failure at ${who} names nobody: ${why}`);
  const kind = why.replaceAll(who, 'WHO').replace(/[0-9a-f-]{36}|\d+/g, '#');
  outcomes.reasons.set(kind, (outcomes.reasons.get(kind) ?? 0) + 1);
}

/** A person with a client behind an expose, which is begun anew when it was killed. */
class Person {
  log = '';
  #had = new Set();

  constructor(name, generation, command) {
    Object.assign(this, { name, generation, command });
  }

  async begin() {
    const [Kind, Transport] = GENERATIONS[this.generation];
    this.transport = new Transport({ ...this.command, stderr: 'pipe' });
    this.client = new Kind({ name: this.name, version: '1' }, { capabilities: {} });
    this.transport.stderr.setEncoding('utf8').on('data', (text) => { this.log += text; });
    await inTime(this.client.connect(this.transport), () => `no session\n${this.log}`);
    this.isBegun = true;
  }

  /**
   * What a client asks, answered or refused with a reason; undefined when it was refused, or while
   * the client has no session (one of SDK 2 then says that there are no tools).
   */
  async ask(who, question) {
    const { client } = this;
    if (!this.isBegun) {
      await pause(50);
      return undefined;
    }
    try {
      return await question(client);
    } catch (error) {
      if (error.code === 'ERR_ASSERTION') throw error;
      if (this.client === client && this.isBegun) failed(who, error.message);
      await pause(50);
      return undefined;
    }
  }

  async list() {
    const names = await this.ask('room', async (client) => (await client.listTools()).tools.map(({ name }) => name));
    if (!names) return [];
    outcomes.lists += 1;
    assert.ok(names.length > 0 || this.#had.size === 0, `${this.name}: an empty list after ${[...this.#had]}`);
    for (const name of names) this.#had.add(name);
    return names;
  }

  /** A call of which only the server that is meant can give the answer. */
  async call(who) {
    const mark = randomUUID();
    const [name, args] = TWINS.includes(who) ? ['get-env', {}] : ['mark', { mark }];
    const result = await this.ask(who, (client) => client.callTool({ name: `${who}__${name}`, arguments: args }));
    if (!result) return false;
    const [{ text }] = result.content;
    if (result.isError) {
      failed(who, text);
      return false;
    }
    if (TWINS.includes(who)) assert.equal(JSON.parse(text).WHO, who);
    else assert.equal(text, `${who} ${mark}${who === 'latin' ? ' caf\ufffd' : ''}`);
    outcomes.results += 1;
    return true;
  }

  /** True when the URI of two is refused with the names of both. */
  async refuses() {
    return this.client.readResource({ uri: SHARED }).then(() => false, ({ message }) => /ann.*bob/.test(message));
  }

  /** The bridge is killed under its client, who begins another. */
  async again() {
    this.isBegun = false;
    const { client } = this;
    process.kill(this.transport.pid, 'SIGKILL');
    await client.close();
    await this.begin();
  }

  async work(goesOn) {
    for (let turn = 0; goesOn(); turn += 1) {
      if (turn % 20 === 0) await this.list();
      if (!await this.call([...TWINS, ...OTHERS][turn % 6])) await pause(50);
    }
  }
}

/** One call by mcpxctl; true when it was answered. */
async function command(router, token, who) {
  const mark = randomUUID();
  const { code, stdout, stderr } = await mcpxctl(['call', '--url', router.url, '--topic', TOPIC, '--to', who,
    '--timeout', '10', 'mark', JSON.stringify({ mark })], { env: { MCPX_TOKEN: token } });
  if (code === 0) assert.equal(stdout.trim(), `${who} ${mark}${who === 'latin' ? ' caf\ufffd' : ''}`);
  else failed(who, stderr || stdout);
  outcomes.commands += 1;
  return code === 0;
}

test(`${MINUTES} min in a room with servers as they are: nobody's result is another's`, async (t) => {
  const folder = folderFor(t);
  const broken = join(folder, 'broken');
  writeFileSync(broken, '');
  const args = ['--listen', `127.0.0.1:${await freePort()}`];
  const env = {
    MCPX_AUTH_JWT_SECRET: randomUUID(),
    MCPX_LIMITS_JOINS_PER_MINUTE: '0', /* the script joins with each command */
    MCPX_STORE_KIND: 'sqlite',
    MCPX_STORE_FILE: join(folder, 'store')
  };
  let router = await Router.start({ env, args });
  t.after(() => router.stop());

  const imports = {};
  t.after(() => Object.values(imports).forEach((bridge) => bridge.kill('SIGKILL')));
  const begin = async (name) => {
    const [command, more] = TWINS.includes(name) ? [everything, { env: { WHO: name } }]
      : [ownServer('odd_server', name, name, broken), {}];
    imports[name] = await startImport({ after() {} }, router, TOPIC, name, command, more);
  };
  for (const name of [...TWINS, ...OTHERS]) await begin(name);
  const people = [];
  for (const [generation, name] of Object.entries({ 'sdk 1': 'desk', 'sdk 2': 'table' })) {
    const person = new Person(name, generation,
      await exposeCommand(router, TOPIC, name, { options: ['--timeout', '10'] }));
    await person.begin();
    people.push(person);
  }
  t.after(() => Promise.all(people.map((person) => person.client.close())));

  const all = (...names) => Promise.all(people.map((person) => eventually(async () => {
    const found = await person.list();
    return names.every((name) => found.some((tool) => tool.startsWith(`${name}__`)));
  }, () => `${person.name} does not see all of ${names}\n${person.log}`)));
  await all(...TWINS, 'slow', 'flooding', 'latin');
  await imports.broken.until(/broken: no database/);
  await imports.broken.until(/the server is gone: exited with code 7/);
  assert.deepEqual((await people[0].list()).filter((name) => name.startsWith('broken')), []);
  for (const person of people) await eventually(() => person.refuses(), `${person.name}: a URI of two is read`);

  const until = Date.now() + MINUTES * 60000;
  const goesOn = () => Date.now() < until;
  const events = [
    async () => rmSync(broken, { force: true }),
    async () => {
      await router.kill();
      router = await Router.start({ env, args });
    },
    async () => {
      const family = descendants(imports.bob.pid);
      imports.bob.kill('SIGKILL');
      await imports.bob.end();
      await untilGone(family);
      await begin('bob');
    },
    async () => process.kill(serverOf(imports.slow, 'odd_server').pid, 'SIGKILL'),
    async () => people[0].again(),
    async () => {
      await router.stop();
      router = await Router.start({ env, args });
    },
    async () => process.kill(serverOf(imports.ann, 'server-everything').pid, 'SIGKILL'),
    async () => people[1].again()];
  const script = await router.token('script', TOPIC, EXPOSE_GRANTS);
  await Promise.all([
    ...people.flatMap((person) => [1, 2, 3].map(() => person.work(goesOn))),
    (async () => {
      for (let turn = 0; goesOn(); turn += 1) await command(router, script, OTHERS[turn % 4]);
    })(),
    (async () => {
      for (let turn = 0; goesOn(); turn += 1) {
        await pause(STEP_MS);
        await events[turn % events.length]();
      }
    })()]);

  /* Evening: whatever was killed is there again, for everybody. */
  rmSync(broken, { force: true });
  await all(...TWINS, ...OTHERS);
  for (const who of [...TWINS, ...OTHERS]) {
    for (const person of people) await eventually(() => person.call(who), () => `${person.name} has no ${who}`);
  }
  for (const who of OTHERS) await eventually(() => command(router, script, who), () => `no ${who} for a script`);
  t.diagnostic(`${outcomes.results} results, ${outcomes.lists} lists, ${outcomes.commands} commands`);
  for (const [why, count] of outcomes.reasons) t.diagnostic(`${count} x ${why}`);
  assert.ok(outcomes.results > 500 * MINUTES, `only ${outcomes.results} results`);
  for (const bridge of Object.values(imports)) await bridge.stop();
});
