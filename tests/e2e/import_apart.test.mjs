/*
 * The story: two people use one imported server, and must not meet in it: what one has stored there
 * the other does not find, and a question about one's call is answered by him, whatever the other
 * does meanwhile. And the other way round: one server sits at two tables, and nobody at one table
 * hears what was for a participant of the same name at the other.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { importIntoTwo, importRoom, IMPORT_GRANTS } from './lib/import.mjs';
import { Program, descendants, untilGone } from './lib/program.mjs';
import { ownServer, Room, serverProgram } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';
import { callOf as tool, rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const PATIENT = ownServer('patient_server');
const EVERYTHING = [process.execPath, serverProgram('server-everything'), 'stdio'];
const table = (t, options, command = PATIENT) => importRoom(t, router, command, ['ann', 'bob'], { options });

/** The processes of the server below a bridge, the oldest first. */
const servers = (bridge, name = 'patient_server') => descendants(bridge.pid)
  .filter(({ command }) => command.includes(name) && !command.includes('mcpx-bridge'))
  .sort((a, b) => a.start - b.start);

const result = async (seat, method) => (await seat.ask(rpc(7, method))).result;

test('each participant has a server of his own, and lists start none', async (t) => {
  const { bridge, seats: [ann, bob] } = await table(t, ['--isolate', '--protocol', '2025-11-25']);
  await ann.call(rpc(1, 'tools/list'));
  assert.equal(servers(bridge).length, 1);
  await ann.call(rpc(2, 'echo', { n: 1 }));
  await ann.call(rpc(3, 'echo', { n: 2 }));
  assert.equal(await result(ann, 'count'), 2);
  assert.equal(await result(bob, 'count'), 0);
  assert.equal(servers(bridge).length, 3);
});

test('what one stores in server-memory, the other does not find', async (t) => {
  const { seats: [ann, bob] } = await table(t,
    ['--isolate', '--protocol', '2025-11-25'], [process.execPath, '-e', `
      process.env.MEMORY_FILE_PATH = '/tmp/mcpx-apart-' + process.pid + '.json';
      process.on('exit', () => require('fs').rmSync(process.env.MEMORY_FILE_PATH, { force: true }));
      import(${JSON.stringify(serverProgram('server-memory'))});`]);
  await ann.call(tool(1, 'create_entities',
    { entities: [{ name: 'pin', entityType: 'secret', observations: ['1234'] }] }));
  assert.match(await ann.call(tool(2, 'read_graph')), /1234/);
  assert.doesNotMatch(await bob.call(tool(2, 'read_graph')), /1234/);
});

test('a question reaches its caller while others have calls under way', async (t) => {
  const { seats: [ann, bob] } = await table(t, ['--isolate'], EVERYTHING);
  const long = bob.write(tool(1, 'trigger-long-running-operation', { duration: 2, steps: 2 }));
  await bob.call(tool(2, 'echo', { message: 'it works' }));
  assert.match(await ann.call(tool(1, 'trigger-elicitation-request')), /Ada/);
  await bob.answer(long);
});

test('an idle process ends; when all are taken, others are refused and nobody loses his', async (t) => {
  const { bridge, seats: [ann, bob] } = await table(t,
    ['--isolate', '--isolate-max', '1', '--isolate-idle', '1', '--protocol', '2025-11-25']);
  const id = ann.write(rpc(1, 'wait'));
  await bridge.until(/\[node for ann\] waiting/);
  const { error } = await bob.ask(rpc(1, 'count'));
  assert.match(error.message, /--isolate-max/);
  const [, own] = servers(bridge);
  ann.write(rpc(2, 'release'));
  await ann.answer(id);
  await untilGone([own]);
  await eventually(async () => await result(bob, 'count') === 0, 'he has no server');
});

test('nothing is left of any process when the bridge is killed', async (t) => {
  const room = new Room(t, router);
  const bridge = Program.start('mcpx-bridge', ['import', '--url', router.url, '--topic',
    room.topic, '--as', 'server', '--isolate', '--', ...PATIENT]);
  t.after(() => bridge.kill('SIGKILL'));
  await bridge.until(/joined as/);
  const seats = await Promise.all(['ann', 'bob', 'cid'].map((id) => room.seat(id, ['mcp/*'], 'server')));
  await Promise.all(seats.map((seat) => seat.call(rpc(1, 'count'))));
  const family = descendants(bridge.pid);
  assert.equal(servers(bridge).length, 4);
  bridge.kill('SIGKILL');
  await untilGone(family);
});

test('one server sits at two tables, and keeps them apart', async (t) => {
  const { bridge, anns: [here, there] } = await importIntoTwo(t, router, PATIENT);
  const id = here.write(rpc(7, 'wait'));
  await bridge.until(/\] waiting/);
  there.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled',
    params: { requestId: 7 } }), { correlation_id: id });
  assert.equal(await result(there, 'cancelled'), 0);
  assert.equal(await result(there, 'release'), true);
  const { envelope } = await here.answer(id);
  assert.deepEqual([envelope.payload.id, envelope.payload.result], [7, 'released']);
  assert.ok(!there.participant.heard().some((e) => e.payload?.result === 'released'));
  assert.equal(servers(bridge).length, 1);
});

test('who shows the bridge out of one topic has not ended it in the other', async (t) => {
  const { rooms, bridge, anns: [, there] } = await importIntoTwo(t, router, PATIENT);
  const token = await router.token('server', rooms[0].topic, IMPORT_GRANTS);
  await rooms[0].join('server', undefined, { token });
  await bridge.until(/closed the connection for good/);
  assert.equal(await result(there, 'count'), 0);
});
