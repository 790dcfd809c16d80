/*
 * The story: whoever imports a server says under which terms its tools are called. Arguments that
 * cannot work never reach it, what it returns is what was promised, everybody gets answers of one
 * shape, and each call leaves one result in the log, also when it is the last thing that happens.
 * docs/contracts.md, "Contract settings".
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exposeClient, listed } from './lib/expose.mjs';
import { importIntoTwo, importRoom, IMPORT_GRANTS, serverOf } from './lib/import.mjs';
import { logFolder } from './lib/folder.mjs';
import { compare, officialServers } from './lib/official.mjs';
import { ownServer } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { callOf as tool, rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const COUNTING = ownServer('counting_server');

/** A room with an import under terms, and people in it. */
const table = (t, terms, people = ['ann'], options = [], command = COUNTING) => importRoom(t, router, command, people,
  { options: ['--contracts', JSON.stringify(terms), ...options] });

/** Which tools the server was called for. */
const reached = async (seat) => (await seat.ask(rpc('calls', 'calls'))).result.calls;

/** Each call has one result, after it, and nothing else has one. */
function assertPaired(events) {
  const open = new Map();
  for (const { eventName, requestId } of events) {
    if (eventName === 'mcp.tool.call') {
      assert.ok(!open.has(requestId), `two calls ${requestId}`);
      open.set(requestId, 0);
    } else if (eventName === 'mcp.tool.result') {
      assert.equal(open.get(requestId), 0, `results of ${requestId}`);
      open.set(requestId, 1);
    }
  }
  assert.deepEqual([...open.values()].filter((results) => results !== 1), []);
  return open.size;
}

test('with terms that ask for nothing, official servers answer as over a pipe', async (t) => {
  for (const server of officialServers(t)) {
    await compare(t, router, server, { options: ['--contracts', '{}'], wrong: [] });
  }
});

test('arguments that cannot work never reach the server, nor does broken output a caller',
  async (t) => {
    const { seats: [ann] } = await table(t, {});
    const wrong = await ann.ask(tool(1, 'add', { a: 2 }));
    assert.equal(wrong.error.code, -32602);
    assert.equal(wrong.error.message, 'Invalid params');
    assert.equal(wrong.error.data.canonical_code, 'INVALID_INPUT');
    assert.equal(wrong.error.data.cause, 'input');
    assert.equal(wrong.error.data.errors[0].path, '/b');
    const unknown = await ann.ask(tool(2, 'nobody'));
    assert.deepEqual([unknown.error.code, unknown.error.data.cause], [-32004, 'tool_unknown']);
    assert.deepEqual(await reached(ann), []);
    assert.equal((await ann.ask(tool(3, 'add', { a: 2, b: 3 }))).result.structuredContent.sum, 5);
    const broken = await ann.ask(tool(4, 'lie'));
    assert.deepEqual([broken.error.code, broken.error.data.cause], [-32002, 'output']);
    assert.deepEqual(await reached(ann), ['add', 'lie']);
  });

test('what asks for a tool and wants no answer never reaches the server', async (t) => {
  const { seats: [ann], bridge } = await table(t, {});
  await bridge.until(/is ready/);
  ann.write(JSON.stringify({ jsonrpc: '2.0', method: 'tools/call',
    params: { name: 'add', arguments: { a: 'text' } } }));
  await bridge.until(/without an id is dropped/);
  assert.deepEqual(await reached(ann), []);
});

test('a server whose list changes whenever it is read is called all the same', async (t) => {
  const { seats: [ann] } = await table(t, {}, ['ann'], [], [...COUNTING, 'restless']);
  for (const id of [1, 2]) {
    const { result } = await ann.ask(tool(id, 'add', { a: id, b: 1 }));
    assert.equal(result.structuredContent.sum, id + 1);
  }
});

test('a tool whose schema cannot be used is named when the list is read, and at its calls', async (t) => {
  const { bridge, seats: [ann] } = await table(t, {}, ['ann'], [], [...COUNTING, 'odd']);
  assert.equal((await ann.ask(tool(1, 'add', { a: 1, b: 1 }))).result.structuredContent.sum, 2);
  const named = /a schema of the tool "odd" cannot be used: \/inputSchema\/properties\/a\/pattern must have/g;
  assert.equal(bridge.log.match(named)?.length, 1, bridge.log);
  const { error } = await ann.ask(tool(2, 'odd'));
  assert.equal(error.data.errors[0].path, '/inputSchema/properties/a/pattern');
  assert.equal(bridge.log.match(named).length, 1);
});

test('R002-14: in the shadow, the same is only written down', async (t) => {
  const log = logFolder(t);
  const { seats: [ann] } = await table(t, { validate: 'shadow', log: { dir: log.dir } });
  assert.equal((await ann.ask(tool(1, 'lie'))).result.structuredContent.total, 1);
  await ann.ask(tool(2, 'add', { a: 2 }));
  assert.deepEqual(await reached(ann), ['lie', 'add']);
  assert.deepEqual(log.validation().map(({ status, error }) => [status, error?.cause]),
    [['error', 'output'], ['error', 'input']]);
  assert.ok(log.telemetry().some(({ status }) => status === 'degraded'));
});

test('every answer has one shape, and lists say which', async (t) => {
  const { room, seats: [ann] } = await table(t, { result: 'response.v1',
    tools: { fail: { result: 'mcp.envelope.v0.1' } } });
  const { result: good } = await ann.ask(tool(1, 'add', { a: 2, b: 3 }));
  assert.deepEqual(JSON.parse(good.content[0].text), good.structuredContent);
  assert.deepEqual(Object.keys(good.structuredContent), ['tier', 'tool_version', 'tool_id',
    'request_id', 'capabilities', 'duration_ms', 'error', 'upgrade_hints', 'data']);
  assert.equal(good.structuredContent.tool_version, '2.1.0');
  assert.deepEqual([good.structuredContent.error, good.structuredContent.data], [null, { sum: 5 }]);
  const { result: wrong } = await ann.ask(tool(2, 'add', { a: 2 }));
  assert.equal(wrong.isError, true);
  assert.equal(wrong.structuredContent.error.error_code, 'invalid_argument');
  assert.match(wrong.structuredContent.error.error, /^Invalid params: \/b /);
  const { result: failed } = await ann.ask(tool(3, 'fail'));
  assert.equal(failed.isError, true);
  assert.equal(failed.structuredContent.errors[0].code, 'ADAPTER.EXECUTION.FAILED');

  /* An official client checks what it gets against the list. */
  const client = await exposeClient(t, router, room.topic, 'bob', { options: ['--names', 'plain'] });
  await listed(client, 'add');
  const { tools } = await client.listTools();
  assert.ok(tools[0].outputSchema.properties.tool_id, JSON.stringify(tools[0]));
  assert.equal((await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } }))
    .structuredContent.data.sum, 2);
});

test('R004-14: an alias is another name, and gives no right that its tool does not give', async (t) => {
  const { bridge, seats: [ann, bob] } = await table(t,
    { aliases: { namespace: 'old', names: { plus: 'add', gone: 'nothing' } } },
    { ann: ['mcp/*'], bob: ['mcp/request:tools/call:plus', 'mcp/request:calls'] });
  assert.equal((await ann.ask(tool(1, 'plus', { a: 2, b: 3 }))).result.structuredContent.sum, 5);
  assert.equal((await ann.ask(tool(2, 'old.add', { a: 2, b: 4 }))).result.structuredContent.sum, 6);
  const { error } = await bob.ask(tool(1, 'plus', { a: 2, b: 3 }));
  assert.deepEqual([error.code, error.data.cause], [-32001, 'denied']);
  assert.deepEqual(await reached(bob), ['add', 'add']);
  await bridge.until(/gone/);
});

test('one call says what there is', async (t) => {
  const { seats: [ann] } = await table(t, { capabilities: { mcp_version: '2.0',
    schema_version: '2026-03-01' } });
  const { result: { tools } } = await ann.ask(rpc(1, 'tools/list', { cursor: 'second' }));
  assert.equal(tools.at(-1).name, 'mcp.capabilities.get');
  const first = await ann.call(tool(2, 'mcp.capabilities.get'));
  const { structuredContent } = JSON.parse(first).result;
  assert.deepEqual(structuredContent.toolNamespaces.flatMap((space) => space.tools),
    ['add', 'fail', 'lie', 'wait']);
  assert.equal(await ann.call(tool(2, 'mcp.capabilities.get')), first, 'the same bytes');
  assert.deepEqual(await reached(ann), []);
});

test('each call has one result in the log, whatever its end', async (t) => {
  const log = logFolder(t);
  const { room, bridge, seats: [ann, bob] } = await table(t, { log: { dir: log.dir } },
    ['ann', 'bob'], ['--request-timeout', '1']);
  await ann.call(tool('good', 'add', { a: 1, b: 2 }));
  await ann.call(tool('wrong', 'add', {}));
  await ann.call(tool('hangs', 'wait')); /* until --request-timeout */
  const long = ann.write(tool('cancelled', 'wait'));
  ann.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled',
    params: { requestId: 'cancelled' } }), { correlation_id: long });
  await ann.call(rpc('ping', 'calls'));
  const killed = bob.write(tool('killed', 'wait'));
  await bridge.until(/(waiting[^]*){3}/);
  process.kill(serverOf(bridge, 'counting_server').pid, 'SIGKILL');
  const { envelope } = await bob.answer(killed);
  assert.deepEqual([envelope.payload.error.code, envelope.payload.error.data.cause,
    envelope.payload.error.data.signal], [-32603, 'unavailable', 9]);
  await bob.call(tool('after', 'add', { a: 1, b: 2 }));
  bob.write(tool('last', 'wait'));
  await bridge.until(/(waiting[^]*){4}/);
  bridge.kill('SIGTERM');
  await bridge.end();
  const events = log.telemetry();
  assert.equal(assertPaired(events), 7);
  assert.deepEqual(events.filter(({ eventName }) => eventName === 'mcp.tool.result')
    .map(({ toolName, status, errorCategory }) => [toolName, status, errorCategory]),
  [['add', 'ok', null], ['add', 'error', 'INVALID_INPUT'], ['wait', 'error', 'INTERNAL_ERROR'],
    ['wait', 'error', 'INTERNAL_ERROR'], ['wait', 'error', 'INTERNAL_ERROR'], ['add', 'ok', null],
    ['wait', 'error', 'INTERNAL_ERROR']]);
  assert.equal(log.validation().length, 7);
  assert.equal(statSync(join(log.dir, 'telemetry')).mode & 0o77, 0, 'nobody else reads it');
  assert.ok(room);
});

test('each call has one result in the log when the topic is lost', async (t) => {
  const log = logFolder(t);
  const { rooms, bridge, anns: [ann, bob] } = await importIntoTwo(t, router, COUNTING,
    ['--contracts', JSON.stringify({ log: { dir: log.dir } })]);
  ann.write(tool(1, 'wait'));
  await bridge.until(/\] waiting/);
  const token = await router.token('server', rooms[0].topic, IMPORT_GRANTS);
  await rooms[0].join('server', undefined, { token });
  await bridge.until(/closed the connection for good/);
  await bob.call(tool(1, 'add', { a: 1, b: 2 }));
  assert.deepEqual(log.telemetry().map(({ eventName, toolName }) => [eventName, toolName]),
    [['mcp.tool.call', 'wait'], ['mcp.tool.result', 'wait'],
      ['mcp.tool.call', 'add'], ['mcp.tool.result', 'add']]);
  assert.equal(assertPaired(log.telemetry()), 2);
});

test('R002-18: ids are the same in each run when that is asked for', async (t) => {
  const ids = [];
  for (let run = 0; run < 2; run += 1) {
    const log = logFolder(t);
    const { bridge, seats: [ann] } = await table(t, { log: { dir: log.dir } }, ['ann'],
      ['--deterministic-ids']);
    await ann.call(tool(1, 'add', { a: 1, b: 2 }));
    bridge.kill('SIGTERM');
    await bridge.end();
    ids.push(log.validation().map(({ spanId, deterministic }) => [spanId, deterministic]));
  }
  assert.deepEqual(ids[0], ids[1]);
  assert.equal(ids[0][0][1], true);
});
