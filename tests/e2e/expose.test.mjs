/*
 * The story: somebody's MCP client, unmodified, gets one server entry and behind it a whole room. It
 * must see what it would see of each server alone, byte for byte, and get the same answers; and where
 * its grants end, a person's consent takes over without the client knowing. If this breaks, nobody
 * can use a topic from the client they have.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { exposeClient, exposeCommand, exposeModern, listed, PROPOSER_GRANTS, untilListed } from './lib/expose.mjs';
import { folderFor } from './lib/folder.mjs';
import { readyImport, serverOf, startImport } from './lib/import.mjs';
import { Program } from './lib/program.mjs';
import { Room, serverProgram } from './lib/room.mjs';
import { eventually, freePort, pause, people, Router, tokenOf } from './lib/router.mjs';

/* Waits until the client may read something, and reads it. */
async function readsFirst(client) {
  const { uri } = await eventually(async () => (await client.listResources()).resources[0], 'no resources');
  assert.equal((await client.readResource({ uri })).contents[0].uri, uri);
}

const router = await Router.startFor({ after });
const folder = folderFor({ after });
writeFileSync(join(folder, 'hello.txt'), 'hello\n');

/** The reference servers. */
const SERVERS = {
  everything: [[process.execPath, serverProgram('server-everything'), 'stdio']],
  filesystem: [[process.execPath, serverProgram('server-filesystem'), folder]],
  memory: [[process.execPath, serverProgram('server-memory')], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }],
};

/** Imports the named servers into a new room. */
async function roomOf(t, names) {
  const topic = `room-${randomUUID()}`;
  const bridges = {};
  for (const name of names) {
    const [command, env] = SERVERS[name];
    bridges[name] = await readyImport(t, router, topic, name, command, { env });
  }
  return { topic, bridges };
}

test('three servers in a room are one server, each thing under its owner\'s name', async (t) => {
  const { topic } = await roomOf(t, ['everything', 'filesystem', 'memory']);
  /* A client is told the instructions of those who are known when it connects. */
  const client = await eventually(async () => {
    const one = await exposeClient(t, router, topic, 'desk');
    if (/# everything\n/.test(one.getInstructions())) return one;
    await one.close();
    return undefined;
  }, 'no instructions of everything');
  for (const name of ['everything__echo', 'filesystem__read_text_file', 'memory__read_graph']) {
    await listed(client, name);
  }
  const { content } = await client.callTool({ name: 'filesystem__read_text_file',
    arguments: { path: join(folder, 'hello.txt') } });
  assert.equal(content[0].text, 'hello\n');
  const graph = await client.callTool({ name: 'memory__read_graph', arguments: {} });
  assert.deepEqual(graph.structuredContent, { entities: [], relations: [] });
  await eventually(async () => (await client.listPrompts()).prompts
    .some(({ name }) => name === 'everything__simple-prompt'), 'no prompts of everything');
  await readsFirst(client);
  await client.ping();
  await assert.rejects(client.callTool({ name: 'nobody__nothing', arguments: {} }),
    /no participant has/);
  assert.deepEqual(client.errors, []);
});

test('ten clients and a thousand calls get every answer where it belongs', async (t) => {
  const { topic } = await roomOf(t, ['everything']);
  const clients = await Promise.all(Array.from({ length: 10 },
    (_, number) => exposeClient(t, router, topic, `desk-${number}`)));
  await Promise.all(clients.map((client) => listed(client, 'everything__echo')));
  const calls = clients.flatMap((client, number) => Array.from({ length: 100 }, (_, turn) => {
    const message = `${number}/${turn}`;
    return client.callTool({ name: 'everything__echo', arguments: { message } })
      .then(({ content }) => assert.equal(content[0].text, `Echo: ${message}`));
  }));
  await Promise.all(calls);
});

test('a server that comes and goes changes the client\'s list', async (t) => {
  const topic = `room-${randomUUID()}`;
  const client = await exposeClient(t, router, topic, 'desk');
  assert.deepEqual((await client.listTools()).tools, []);
  const [command, env] = SERVERS.memory;
  const bridge = await startImport(t, router, topic, 'memory', command, { env });
  await listed(client, 'memory__read_graph');
  await bridge.stop();
  await untilListed(client, ToolListChangedNotificationSchema,
    async () => (await client.listTools()).tools.length === 0);
});

/* ---- consent ---- */

/** A room in which `desk` may only propose and `boss` may do everything. */
async function office(t, more = {}) {
  const { topic } = await roomOf(t, ['filesystem']);
  const room = new Room(t, router, topic);
  const boss = await room.join('boss', ['mcp/request:*', 'mcp/reject', 'mcp/proposal:*']);
  const client = await exposeClient(t, router, topic, 'desk',
    { grants: PROPOSER_GRANTS, ...more, options: ['--heartbeat', '1', ...more.options ?? []] });
  await listed(client, 'filesystem__write_file');
  const write = (options) => client.callTool({ name: 'filesystem__write_file',
    arguments: { path: join(folder, 'note.txt'), content: 'approved' } }, undefined, options);
  const proposed = async () => (await boss.until(
    (e) => e.kind === 'mcp/proposal:tools/call:write_file', 'the proposal')).envelope;
  const approve = ({ id, payload, to }) => boss.send('mcp/request:tools/call:write_file',
    { jsonrpc: '2.0', id: 1, ...payload }, { to, correlation_id: id });
  return { topic, boss, client, write, proposed, approve };
}

test('a person may take longer than the client waits without a word', async (t) => {
  const { write, proposed, approve } = await office(t);
  const signs = [];
  const call = write({ timeout: 10000, resetTimeoutOnProgress: true,
    onprogress: (progress) => signs.push(progress) });
  const proposal = await proposed();
  const { method, params: { _meta, ...params } } = proposal.payload;
  assert.deepEqual([method, params, Object.keys(_meta)], ['tools/call', { name: 'write_file',
    arguments: { path: join(folder, 'note.txt'), content: 'approved' } }, ['io.mcpx/tool']]);
  const waits = Date.parse(proposal.expires) - Date.now();
  assert.ok(waits > 500000 && waits <= 600000, `until ${proposal.expires}`);
  await pause(12000); /* the person thinks: the time itself is what is tested */
  approve(proposal);
  const { content } = await call;
  assert.match(content[0].text, /Successfully wrote/);
  assert.ok(signs.length >= 5, `${signs.length} signs of life`);
  assert.match(signs[0].message, /waiting for approval of tools\/call 'write_file'/);
  assert.ok(signs.every(({ progress }, at) => at === 0 || progress > signs[at - 1].progress));
});

test('a rejection is a result that a model can read', async (t) => {
  const { boss, write, proposed } = await office(t);
  const call = write();
  const { id } = await proposed();
  boss.send('mcp/reject', { reason: 'not on my watch' }, { correlation_id: id, to: ['desk'] });
  const { content, isError } = await call;
  assert.equal(isError, true);
  assert.match(content[0].text, /'boss' rejected .*: not on my watch/);
});

for (const [what, leave] of [['gives up', (client, stop) => stop.abort('changed my mind')],
  ['is gone', (client) => client.close()]]) {
  test(`a client that ${what} leaves no proposal behind`, async (t) => {
    const { boss, client, write, proposed } = await office(t);
    const stop = new AbortController();
    const call = write({ signal: stop.signal });
    const { id } = await proposed();
    await leave(client, stop);
    await assert.rejects(call);
    await boss.until((e) => e.kind === 'mcp/withdraw' && e.correlation_id === id, 'the withdrawal');
  });
}

/** A call that takes long, under way. */
async function longCall(client, args) {
  await listed(client, 'everything__echo');
  let answer;
  const started = new Promise((done) => {
    answer = client.callTool({ name: 'everything__trigger-long-running-operation', arguments: args },
      undefined, { onprogress: done });
  });
  await Promise.race([started, answer]); /* a call that fails is not waited for */
  return { answer };
}

test('a server that dies in the middle of a call is told at once', async (t) => {
  const { topic, bridges: { everything } } = await roomOf(t, ['everything']);
  const call = await longCall(await exposeClient(t, router, topic, 'desk'), { duration: 60, steps: 600 });
  process.kill(serverOf(everything, 'server-everything').pid, 'SIGKILL');
  await assert.rejects(call.answer, (error) => error.code === -31000);
});

/* ---- a program among programs ---- */

/** An expose as a process: `say` writes messages, `until` waits for a line of output. */
async function exposeProgram(t, topic, more = {}) {
  const { args, env } = await exposeCommand(router, topic, 'desk', more);
  const program = Program.start('mcpx-bridge', args,
    { stdin: 'pipe', stdout: 'kept', ...more, env: { ...env, ...more.env } });
  t.after(async () => { program.kill('SIGKILL'); await program.end(); });
  program.say = (...messages) => program.stdin.write(
    messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  program.answers = () => program.output.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  program.answer = (id) => program.holds(() => program.answers().find((one) => one.id === id), `answer ${id}`);
  /* Greets, and lists until the room's servers are known. */
  program.greet = async (tool) => {
    program.say(HELLO, { method: 'notifications/initialized' });
    let turn = 0;
    await eventually(async () => {
      program.say({ id: `list-${turn += 1}`, method: 'tools/list' });
      const { result } = await program.answer(`list-${turn}`);
      return result.tools.some(({ name }) => name === tool);
    }, `${tool} is not listed`);
  };
  return program;
}

const HELLO = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25',
  capabilities: {}, clientInfo: { name: 'script', version: '1' } } };

test('a script that writes its requests and closes its end gets every answer', async (t) => {
  const { topic } = await roomOf(t, ['everything']);
  const program = await exposeProgram(t, topic);
  await program.greet('everything__get-sum'); /* behind the end of input answers have 3.5 s */
  program.say({ id: 1, method: 'tools/list' },
    { id: 2, method: 'tools/call', params: { name: 'everything__get-sum', arguments: { a: 2, b: 40 } } });
  program.stdin.end();
  assert.deepEqual(await program.end(), { code: 0, signal: null });
  assert.deepEqual(program.answers().map(({ id }) => id).filter(Number.isInteger).sort(), [0, 1, 2]);
  assert.match(program.answers().find(({ id }) => id === 2).result.content[0].text, /42/);
  assert.equal(program.log, '');
});

test('SIGTERM, SIGINT, SIGHUP, SIGQUIT end an expose in good order', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
    const program = await exposeProgram(t, `room-${randomUUID()}`);
    program.say({ id: 1, method: 'ping' });
    await new Promise((done) => { program.stdout.once('data', done); });
    program.kill(signal);
    assert.deepEqual(await program.end(), { code: 0, signal: null }, signal);
  }
});

test('an output that takes nothing ends it with a word about that', async (t) => {
  const stdout = openSync('/dev/full', 'w');
  const program = await exposeProgram(t, `room-${randomUUID()}`, { stdout });
  closeSync(stdout);
  program.say({ id: 1, method: 'ping' });
  assert.deepEqual(await program.end(), { code: 1, signal: null });
  assert.match(program.log, /cannot write to standard output: No space left/);
});

test('a router that refuses is no reason to leave a client without an answer', async (t) => {
  const program = await exposeProgram(t, 'any', { env: { MCPX_TOKEN: 'not-a-token' } });
  program.say(HELLO);
  assert.deepEqual(await program.end(), { code: 5, signal: null });
  assert.equal(program.answers()[0].error.code, -31000);
  assert.match(program.log, /401/);
});

test('a large answer reaches a client that reads late, whole', async (t) => {
  const { topic } = await roomOf(t, ['filesystem']);
  const text = 'x'.repeat(300000);
  writeFileSync(join(folder, 'large.txt'), text);
  const program = await exposeProgram(t, topic);
  await program.greet('filesystem__read_text_file');
  program.stdout.pause();
  const before = program.answers().length;
  program.say(...Array.from({ length: 20 }, (_, id) => ({ id: id + 1, method: 'tools/call',
    params: { name: 'filesystem__read_text_file', arguments: { path: join(folder, 'large.txt') } } })));
  await pause(500); /* what does not fit the pipe waits in the bridge */
  program.stdout.resume();
  for (let id = 1; id <= 20; id += 1) await program.answer(id); /* as above: 3.5 s are not enough */
  program.stdin.end();
  assert.deepEqual(await program.end(), { code: 0, signal: null });
  const answers = program.answers().slice(before);
  assert.equal(answers.length, 20);
  assert.ok(answers.every(({ result }) => result.content[0].text === text));
});

test('a file of requests waits for a client that reads late', async (t) => {
  const path = join(folder, 'requests');
  writeFileSync(path, `{"jsonrpc":"2.0","id":"${'x'.repeat(1 << 20)}","method":"ping"}\n`.repeat(40));
  const program = await exposeProgram(t, `room-${randomUUID()}`, { stdin: openSync(path, 'r') });
  program.stdout.pause();
  await pause(4000); /* behind the end of the file the last lines have 2 s */
  program.stdout.resume();
  assert.deepEqual(await program.end(), { code: 0, signal: null });
  assert.equal(program.answers().length, 40);
});

test('a call outlives its router', async (t) => {
  const config = { participants: people({ everything: ['mcp/*', 'chat'], desk: ['mcp/*'] }) };
  const listen = ['--listen', `127.0.0.1:${await freePort()}`];
  const first = await Router.start({ config, args: listen });
  await readyImport(t, first, 'room', 'everything', ...SERVERS.everything, { token: tokenOf('everything') });
  const client = await exposeClient(t, first, 'room', 'desk', { token: tokenOf('desk') });
  const call = await longCall(client, { duration: 2, steps: 4 });
  await first.kill();
  const next = await Router.startFor(t, { config, args: listen });
  assert.match((await call.answer).content[0].text, /completed/);
});

/* ---- other clients ---- */

for (const mode of ['legacy', 'auto']) {
  test(`the SDK's second generation works, negotiating ${mode}`, async (t) => {
    const { topic } = await roomOf(t, ['everything']);
    const client = await exposeModern(t, router, topic, 'desk', mode);
    await eventually(async () => (await client.listTools()).tools
      .some(({ name }) => name === 'everything__echo'), 'no tools of everything');
    const { content } = await client.callTool({ name: 'everything__echo', arguments: { message: 'hi' } });
    assert.equal(content[0].text, 'Echo: hi');
    await readsFirst(client);
  });
}
