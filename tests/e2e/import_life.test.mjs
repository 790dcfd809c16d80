/*
 * The story: a server sits at a table for weeks. It crashes, hangs, shows its environment, asks
 * questions and is stopped; several people use it at the same time and cancel what they do not
 * want. Nobody may wait for a dead process, hear another's progress, or find a process left over.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { importRoom, IMPORT_GRANTS, readyImport, serverOf } from './lib/import.mjs';
import { Program, descendants, startOf, untilGone } from './lib/program.mjs';
import { ownServer, Room, serverProgram } from './lib/room.mjs';
import { freePort, Router, sha256 } from './lib/router.mjs';
import { callOf as tool, rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const PATIENT = ownServer('patient_server');
const EVERYTHING = [process.execPath, serverProgram('server-everything'), 'stdio'];

/** A room with an import of server-everything, and people in it. */
const room = (t, people, { command = EVERYTHING, ...more } = {}) => importRoom(t, router, command, people, more);

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

test('what is cancelled, however often, pushes out no call', async (t) => {
  const calm = await Router.startFor(t, { config: { limits: { messages_per_minute: 10000000 } },
    args: ['--dev'] });
  const { room: table, seats: [ann] } = await importRoom(t, calm, PATIENT);
  const hasty = await table.seat('hasty', ['mcp/*'], 'server', { query: { routing: 'directed' } });
  const first = ann.write(tool(1, 'wait'));
  await ann.participant.untilId(first);
  for (let n = 0; n < 10500; n += 1) {
    hasty.write(rpc(undefined, 'notifications/cancelled', { requestId: n }),
      { correlation_id: hasty.write(tool(n, 'wait')) });
    if (n % 100 === 99) await hasty.participant.ping();
  }
  ann.write(tool(2, 'release'));
  const { envelope: { payload: { id, result } } } = await ann.answer(first);
  assert.deepEqual([id, result], [1, 'released']);
});

const TOKEN = 'a-token-of-the-configuration-of-this-router';
const config = { participants: { server: { topics: ['*'], grants: IMPORT_GRANTS,
  token_sha256: sha256(TOKEN) } } };

test('a router that comes back finds the same server', async (t) => {
  const args = ['--dev', '--listen', `127.0.0.1:${await freePort()}`];
  const first = await Router.start({ config, args });
  const bridge = await readyImport(t, first, 'room', 'server', EVERYTHING, { token: TOKEN });
  const { pid } = serverOf(bridge, 'server-everything');
  await first.stop();
  await bridge.until(/not connected/);
  const second = await Router.startFor(t, { config, args });
  await bridge.until(/joined as[^]*joined as/);
  const ann = await new Room(t, second, 'room').seat('ann', ['mcp/*'], 'server');
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
    const { bridge, seats: [ann] } = await importRoom(t, router, PATIENT);
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
  const ann = await table.seat('ann', ['mcp/*'], 'server');
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

test('what can never work ends with an exit code and a sentence', async (t) => {
  const token = await router.token('server', 'room', IMPORT_GRANTS);
  const rows = [
    { args: ['--', '/no/such/program'], code: 1, says: /cannot execute '\/no\/such\/program'/ },
    { args: ['--no-restart', '--', 'sh', '-c', 'exit 3'], code: 1, says: /exited with code 3/ },
    { args: ['--client-capabilities', '[]', '--', 'true'], code: 2, says: /must be a JSON object/ },
    { args: ['--root', '/srv', '--', 'true'], code: 2, says: /file:\/\/\/srv/ },
    { args: [], code: 2, says: /COMMAND/ },
    { env: { MCPX_TOKEN: 'wrong' }, args: ['--', 'cat'], code: 5, says: /401|token/ },
    ...[[/twice/, '--topic', 'b', '--topic', 'room'], [/need --isolate/, '--isolate-max', '4'],
      [/1 to 1000/, '--isolate', '--isolate-max', '0'], [/--contracts/, '--contracts', '{'],
      [/\/limits\/input_bytes[^]*\/validate must be one of/, '--contracts',
        '{"validate":"later","limits":{"input_bytes":-1}}'],
      [/\/nowhere\/terms\.json/, '--contracts', '/nowhere/terms.json'], [/needs --contracts/, '--deterministic-ids'],
    ].map(([says, ...words]) => ({ args: [...words, '--', 'cat'], code: 2, says })),
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
  const noise = async () => (await ann.ask(rpc(1, 'noise'))).result;
  bridge.ignore();
  for (let i = 0; i < 10; i += 1) assert.equal(await noise(), 'said');
  bridge.listen();
  assert.equal(await noise(), 'said');
  await bridge.until(/lines are missing here, because they were too many or their reader was slow: \d{3}/);
});
