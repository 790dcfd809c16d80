/*
 * The story: a server sits at a table for weeks. It crashes, hangs, shows its environment, asks
 * questions and is stopped; several people use it at the same time and cancel what they do not
 * want. Nobody may wait for a dead process, hear another's progress, or find a process left over.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { IMPORT_GRANTS, serverOf, startImport } from './lib/import.mjs';
import { Program, descendants, startOf, untilGone } from './lib/program.mjs';
import { ownServer, Room, serverProgram } from './lib/room.mjs';
import { freePort, inTime, Router, sha256 } from './lib/router.mjs';
import { rpc, Seat } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const PATIENT = ownServer('patient_server');
const EVERYTHING = [process.execPath, serverProgram('server-everything'), 'stdio'];

/** A request as text; a tool's call when `method` is a tool's name. */
function tool(id, name, args = {}, more = {}) {
  return rpc(id, 'tools/call', { name, arguments: args, ...more });
}

/** A room with an import of server-everything, and people in it. */
async function room(t, people, { command = EVERYTHING, ...more } = {}) {
  const table = new Room(t, router);
  const bridge = await startImport(t, router, table.topic, 'server', command, more);
  const seats = await Promise.all(people.map(async (id) =>
    new Seat(await table.join(id, ['mcp/*', 'chat']), 'server')));
  return { table, bridge, seats };
}

test('a server killed in the middle of a call: its caller hears at once, the next call works',
  async (t) => {
    const { bridge, seats: [ann, bob] } = await room(t, ['ann', 'bob']);
    await ann.call(rpc(0, 'ping'));
    const long = ann.write(tool('long', 'trigger-long-running-operation',
      { duration: 60, steps: 60 }));
    await bob.call(tool(1, 'echo', { message: 'it works on it' }));
    process.kill(serverOf(bridge, 'server-everything').pid, 'SIGKILL');
    const { envelope } = await ann.answer(long, 50000); /* not when the call ends, after a minute */
    assert.equal(envelope.payload.id, 'long');
    assert.equal(envelope.payload.error.code, -31000);
    assert.equal(envelope.payload.error.data.signal, 9, JSON.stringify(envelope.payload));
    await bob.participant.until((e) => e.kind === 'chat' && /gone/.test(e.payload.text), 'the news');
    assert.match(await bob.call(tool(2, 'echo', { message: 'again' })), /Echo: again/);
    await bob.participant.until((e) => e.kind === 'mcp/request:notifications/tools/list_changed',
      'the lists are announced');
  });

test('ten thousand calls of ten people: nothing is mixed up, nothing is lost', async (t) => {
  const busy = await Router.startFor(t, { args: ['--dev'],
    config: { limits: { messages_per_minute: 0, bytes_per_minute: 0 } } });
  const table = new Room(t, busy);
  await startImport(t, busy, table.topic, 'server', PATIENT);
  const calls = async (name) => {
    const participant = await table.join(name, ['mcp/*'], { query: { routing: 'directed' } });
    const seat = new Seat(participant, 'server');
    const waiting = new Map();
    let answered = 0;
    let done;
    const all = new Promise((resolve) => { done = resolve; });
    participant.listen(({ correlation_id: about, payload }) => {
      if (!waiting.has(about)) return;
      const n = waiting.get(about);
      waiting.delete(about);
      assert.deepEqual([payload.id, payload.result], [n % 50, { name, n }]);
      answered += 1;
      if (answered === 1000) done();
      else if (answered + waiting.size < 1000) ask(answered + waiting.size);
    });
    const ask = (n) => waiting.set(seat.write(rpc(n % 50, 'echo', { name, n })), n);
    for (let n = 0; n < 50; n += 1) ask(n);
    await inTime(all, () => `${name} has ${answered} answers`, 300000);
    participant.received.length = 0;
  };
  await Promise.all([...'abcdefghij'].map(calls));
});

test('only its caller cancels a call', async (t) => {
  const { bridge, seats: [ann, bob] } = await room(t, ['ann', 'bob'], {
    command: PATIENT,
  });
  const id = ann.write(rpc(7, 'wait'));
  await bridge.until(/\] waiting/);
  const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled',
    params: { requestId: 7, reason: 'enough' } });
  bob.write(cancel, { correlation_id: id });
  bob.write(cancel);
  assert.match(await bob.call(rpc(8, 'cancelled')), /"result":0\b/);
  ann.write(cancel);
  assert.match(await ann.call(rpc(9, 'cancelled')), /"result":1\b/);
});

test('what is cancelled, however often, pushes out no call', async (t) => {
  const calm = await Router.startFor(t, { config: { limits: { messages_per_minute: 10000000 } },
    args: ['--dev'] });
  const table = new Room(t, calm);
  await startImport(t, calm, table.topic, 'server', PATIENT);
  const ann = await table.join('ann', ['mcp/*']);
  const hasty = await table.join('hasty', ['mcp/*'], { query: { routing: 'directed' } });
  const call = (who, id, name) => who.send(`mcp/request:tools/call:${name}`, { jsonrpc: '2.0',
    id, method: 'tools/call', params: { name } }, { to: ['server'] });
  const first = call(ann, 1, 'wait');
  await ann.untilId(first);
  for (let n = 0; n < 10500; n += 1) {
    hasty.send('mcp/request:notifications/cancelled', { jsonrpc: '2.0',
      method: 'notifications/cancelled', params: { requestId: n } },
    { to: ['server'], correlation_id: call(hasty, n, 'wait') });
    if (n % 100 === 99) await hasty.ping();
  }
  call(ann, 2, 'release');
  const { envelope } = await ann.until((e) => e.correlation_id === first
    && e.kind.startsWith('mcp/response'), 'the answer to the first call');
  assert.deepEqual([envelope.payload.id, envelope.payload.result], [1, 'released']);
});

test('who was asked leaves: the server is told, and its call goes on', async (t) => {
  const { table, seats: [ann] } = await room(t, ['ann']);
  const shy = await table.join('shy', ['mcp/*']);
  const id = randomUUID();
  shy.send('mcp/request:tools/call:trigger-elicitation-request',
    JSON.parse(tool(1, 'trigger-elicitation-request')), { id, to: ['server'] });
  await shy.until((e) => e.kind === 'mcp/request:elicitation/create', 'the question');
  await shy.close();
  const { envelope } = await ann.participant.until((e) => e.correlation_id === id
    && e.kind.startsWith('mcp/response'), 'the answer nobody hears');
  assert.equal(envelope.payload.id, 1);
});

test('the server does not learn the token', async (t) => {
  const { seats: [ann] } = await room(t, ['ann']);
  const answer = JSON.parse(await ann.call(tool(1, 'get-env')));
  const environment = JSON.parse(answer.result.content[0].text);
  assert.ok(environment.PATH);
  assert.equal(environment.MCPX_TOKEN, undefined);
});

test('an answer that is too large is replaced by one that says so', async (t) => {
  const small = await Router.startFor(t, { config: { limits: { message_bytes: 4096 } }, args: ['--dev'] });
  const table = new Room(t, small);
  await startImport(t, small, table.topic, 'server', EVERYTHING);
  const ann = new Seat(await table.join('ann', ['mcp/*']), 'server');
  const { error } = JSON.parse(await ann.call(rpc(1, 'tools/list')));
  assert.equal(error.code, -31000);
  assert.equal(error.data.limit, 4096);
  assert.ok(error.data.bytes > 4096);
  assert.match(await ann.call(tool(2, 'echo', { message: 'small' })), /Echo: small/);
});

test('garbage and overlong lines do not disturb the others', async (t) => {
  const { bridge, seats: [ann] } = await room(t, ['ann'], {
    command: PATIENT,
    options: ['--line-max', '10000'],
  });
  ann.write(rpc(1, 'garbage'));
  ann.write(rpc(2, 'overlong'));
  assert.match(await ann.call(rpc(3, 'cancelled')), /"result":0\b/);
  await bridge.until(/not JSON, ignored: this is no JSON/);
  await bridge.until(/longer than --line-max/);
});

const TOKEN = 'a-token-of-the-configuration-of-this-router';
const config = { participants: { server: { topics: ['*'], grants: IMPORT_GRANTS,
  token_sha256: sha256(TOKEN) } } };

test('a router that comes back finds the same server', async (t) => {
  const args = ['--dev', '--listen', `127.0.0.1:${await freePort()}`];
  const first = await Router.start({ config, args });
  const bridge = Program.start('mcpx-bridge', ['import', '--url', first.url, '--topic', 'room',
    '--', ...EVERYTHING], { env: { MCPX_TOKEN: TOKEN } });
  t.after(() => bridge.stop());
  await bridge.until(/is ready/);
  const { pid } = serverOf(bridge, 'server-everything');
  await first.stop();
  await bridge.until(/not connected/);
  const second = await Router.startFor(t, { config, args });
  await bridge.until(/joined as[^]*joined as/);
  const table = new Room(t, second, 'room');
  const ann = new Seat(await table.join('ann', ['mcp/*']), 'server');
  assert.match(await ann.call(tool(1, 'echo', { message: 'still' })), /Echo: still/);
  assert.equal(serverOf(bridge, 'server-everything').pid, pid);
});

test('who reads the last line of a bridge without a server reads why it has none', async (t) => {
  const port = await freePort();
  const bridge = Program.start('mcpx-bridge', ['import', '--url', `ws://127.0.0.1:${port}`,
    '--topic', 'room', '--', 'sh', '-c', 'exit 3'], { env: { MCPX_TOKEN: TOKEN } });
  t.after(() => bridge.stop());
  await bridge.until(/the server is gone/);
  const late = await Router.startFor(t, { config, args: ['--dev', '--listen', `127.0.0.1:${port}`] });
  await bridge.until(/joined as/);
  assert.match(bridge.log, /joined as server; the server is gone: exited with code 3\n/);
});

test('signals: who waits is answered, others see it leave, exit 0, nothing is left', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
    const table = new Room(t, router);
    const bridge = await startImport(t, router, table.topic, 'server', PATIENT);
    const ann = new Seat(await table.join('ann', ['mcp/*']), 'server');
    const id = ann.write(rpc(1, 'wait'));
    await bridge.until(/\] waiting/);
    const family = descendants(bridge.pid);
    assert.ok(family.length > 0);
    bridge.kill(signal);
    const { envelope } = await ann.answer(id);
    assert.equal(envelope.payload.error.code, -31000);
    assert.deepEqual(await bridge.end(), { code: 0, signal: null });
    await ann.participant.until((e) => e.kind === 'system/presence' && e.payload.event === 'leave',
      'that it left');
    const commands = family.map(({ command }) => command);
    assert.deepEqual(family.filter(({ pid, start }) => startOf(pid) === start)
      .map(({ command }) => command), [], commands.join('; '));
  }
});

test('a bridge that is killed in the middle of a call leaves nothing running', async (t) => {
  const table = new Room(t, router);
  const token = await router.token('server', table.topic, IMPORT_GRANTS);
  const ann = new Seat(await table.join('ann', ['mcp/*']), 'server');
  for (let round = 0; round < 3; round += 1) {
    const bridge = Program.start('mcpx-bridge', ['import', '--url', router.url,
      '--topic', table.topic, '--', 'sh', '-c', 'exec 3<&0; "$@" <&3 & wait', 'sh', ...PATIENT],
    { env: { MCPX_TOKEN: token } });
    await bridge.until(/joined as/);
    ann.write(rpc(round, 'wait'));
    await bridge.until(/\] waiting/);
    const family = descendants(bridge.pid);
    assert.ok(family.some(({ command }) => command.includes('patient_server')));
    bridge.kill('SIGKILL');
    await bridge.end();
    await untilGone(family);
  }
});

test('a server that hangs does not hang its caller, and is stopped all the same', async (t) => {
  const { bridge, seats: [ann] } = await room(t, ['ann'],
    { command: PATIENT, options: ['--request-timeout', '0.3'] });
  await bridge.until(/is ready/);
  await ann.call(rpc(1, 'count'));
  process.kill(serverOf(bridge, 'patient_server').pid, 'SIGSTOP');
  const { error } = JSON.parse(await ann.call(rpc(2, 'count')));
  assert.equal(error.code, -31001);
});

test('what can never work ends with an exit code and a sentence', async (t) => {
  const token = await router.token('server', 'room', IMPORT_GRANTS);
  const rows = [
    { args: ['--', '/no/such/program'], code: 1, says: /cannot execute '\/no\/such\/program'/ },
    { args: ['--no-restart', '--', 'sh', '-c', 'exit 3'], code: 1, says: /exited with code 3/ },
    { args: ['--client-capabilities', '[]', '--', 'true'], code: 2, says: /must be a JSON object/ },
    { args: ['--client-capabilities', '{"roots":{}}', '--', 'true'], code: 2, says: /--root/ },
    { args: ['--root', '/srv', '--', 'true'], code: 2, says: /file:\/\/\/srv/ },
    { args: [], code: 2, says: /COMMAND/ },
    { env: { MCPX_TOKEN: 'wrong' }, args: ['--', 'cat'], code: 5, says: /401|token/ },
  ];
  for (const { args, env, code, says } of rows) {
    const bridge = Program.start('mcpx-bridge', ['import', '--url', router.url, '--topic', 'room',
      ...args], { env: { MCPX_TOKEN: token, ...env } });
    const end = await bridge.end();
    assert.deepEqual([end.code, says.test(bridge.log)], [code, true], bridge.log);
  }
});

test('nobody has to read what an import and its server say beside their work', async (t) => {
  const { bridge, seats: [ann] } = await room(t, ['ann'], { command: PATIENT });
  const noise = async () => JSON.parse(await ann.call(rpc(1, 'noise'))).result;
  bridge.ignore();
  for (let i = 0; i < 10; i += 1) assert.equal(await noise(), 'said');
  bridge.listen();
  assert.equal(await noise(), 'said');
  await bridge.until(/lines are missing here, because they were too many or their reader was slow: \d{3}/);
});
