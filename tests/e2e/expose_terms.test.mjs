/*
 * The story: whoever exposes a topic to a client says under which terms that client calls tools. What
 * cannot work is refused before anything is sent, and before a person is asked to approve it; what
 * comes back is what was promised; a client that knows nothing of contexts is given one; and the same
 * calls leave the same lines, whichever way they came. docs/contracts.md, "Contract settings".
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { randomUUID } from 'node:crypto';
import { exposePipe, PROPOSER_GRANTS } from './lib/expose.mjs';
import { exposeHttp, post, RawClient, requestText } from './lib/expose_http.mjs';
import { readyImport } from './lib/import.mjs';
import { logFolder } from './lib/folder.mjs';
import { Program } from './lib/program.mjs';
import { ownServer, Room } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

const call = (id, name, args = {}, more = {}) =>
  requestText(id, 'tools/call', { name, arguments: args, ...more });
const under = (terms, ...more) =>
  ({ options: ['--names', 'plain', '--contracts', JSON.stringify(terms), ...more] });

/** A server whose one tool shows the params that it was called with. */
const SHOWING = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const results = { initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} },
    serverInfo: { name: 'showing', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'show', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [], structuredContent: params }) };
  if (id === undefined) return;
  const answer = results[method] ? { result: results[method]() } : { error: { code: -32601, message: '?' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});`;

/** A topic with one server. */
async function topicOf(t, command = ownServer('counting_server')) {
  const topic = `terms-${randomUUID()}`;
  await readyImport(t, router, topic, 'server', command);
  return topic;
}

test('without terms, and with terms that ask for nothing, a client gets the same bytes', async (t) => {
  const topic = await topicOf(t, ownServer('echo_server'));
  const bare = await exposePipe(t, router, topic, 'bare', { options: ['--names', 'plain'] });
  const kept = await exposePipe(t, router, topic, 'kept', under({}));
  for (const text of [requestText(1, 'tools/list'), requestText(2, 'ping'),
    call('"a\\u0062"', 'echo', { text: 'ü 🦊' }), requestText(4, 'no/such'),
    `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{ "name":"echo", "arguments" : {"text":"1e400"}}}`]) {
    assert.equal(await kept.call(text), await bare.call(text), text);
  }
});

test('what cannot work is neither sent nor proposed, and broken output does not arrive', async (t) => {
  const topic = await topicOf(t);
  const pipe = await exposePipe(t, router, topic, 'desk', under({}));
  const wrong = await pipe.ask(call(1, 'add', { a: 2 }));
  assert.deepEqual([wrong.error.code, wrong.error.message, wrong.error.data.canonical_code,
    wrong.error.data.cause, wrong.error.data.errors[0].path],
  [-32602, 'Invalid params', 'INVALID_INPUT', 'input', '/b']);
  const unknown = await pipe.ask(call(2, 'nobody'));
  assert.deepEqual([unknown.error.code, unknown.error.data.cause], [-32004, 'tool_unknown']);
  const nameless = await pipe.ask(requestText(3, 'tools/call', { arguments: {} }));
  assert.deepEqual([nameless.error.code, nameless.error.data.cause], [-32602, 'invocation']);
  assert.equal((await pipe.ask(call(4, 'add', { a: 2, b: 3 }))).result.structuredContent.sum, 5);
  const lie = await pipe.ask(call(5, 'lie'));
  assert.deepEqual([lie.error.code, lie.error.data.cause], [-32002, 'output']);

  const room = new Room(t, router, topic);
  const person = await room.join('person', ['mcp/*', 'chat']);
  const careful = await exposePipe(t, router, room.topic, 'careful',
    { ...under({}), grants: PROPOSER_GRANTS });
  const refused = await careful.ask(call(1, 'add', { a: 'two', b: 3 }));
  assert.equal(refused.error.data.cause, 'input');
  const waiting = careful.call(call(2, 'add', { a: 2, b: 3 }));
  const { envelope } = await person.until(({ kind }) => kind.startsWith('mcp/proposal'), 'a proposal');
  assert.deepEqual(envelope.payload.params.arguments, { a: 2, b: 3 }, 'the first was not proposed');
  person.send('mcp/reject', { reason: 'not today' }, { to: ['careful'], correlation_id: envelope.id });
  const { result } = JSON.parse(await waiting);
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /not today/);
});

test('R004-23: a client that knows no context is given one, and answers have one shape', async (t) => {
  const topic = await topicOf(t, [process.execPath, '-e', SHOWING]);
  const pipe = await exposePipe(t, router, topic, 'desk', under(
    { context: { policy: 'default', values: { workspaceId: 'acme' } } }));
  const { result: { structuredContent: { _meta } } } = await pipe.ask(call(1, 'show', { a: 1 }));
  assert.deepEqual([_meta['io.mcpx/context'].workspaceId, _meta['io.mcpx/context'].mode],
    ['acme', 'operator']);
  const bad = await pipe.ask(call(2, 'show', {}, { _meta: { 'io.mcpx/context': { mode: 'loud' } } }));
  assert.deepEqual([bad.error.code, bad.error.data.cause], [-32602, 'context']);
  const strict = await exposePipe(t, router, topic, 'strict', under({ context: { policy: 'require' } }));
  assert.equal((await strict.ask(call(1, 'show'))).error.data.cause, 'context');

  const counting = await exposePipe(t, router, await topicOf(t), 'desk',
    under({ result: 'response.v1', tier: 'community', tools: { wait: { tier: 'pro' } } }));
  const { result: { tools } } = await counting.ask(requestText(1, 'tools/list'));
  assert.ok(tools[0].outputSchema.properties.tool_id, JSON.stringify(tools[0]));
  const { result: good } = await counting.ask(call(2, 'add', { a: 2, b: 3 }));
  assert.deepEqual([good.structuredContent.data, good.structuredContent.tool_id], [{ sum: 5 }, 'add']);
  const { result: wrong } = await counting.ask(call(3, 'add', { a: 2 }));
  assert.deepEqual([wrong.isError, wrong.structuredContent.error.error_code], [true, 'invalid_argument']);
  const { result: higher } = await counting.ask(call(4, 'wait'));
  assert.equal(higher.structuredContent.error.error_code, 'upgrade_required');
});

test('what a server lists and is no tool is named, and takes no other tool with it', async (t) => {
  const server = SHOWING.replace('tools: [', 'tools: [{ name: 5 }, ');
  const bridge = await exposeHttp(t, router, await topicOf(t, [process.execPath, '-e', server]),
    'desk', under({}));
  assert.equal((await post(bridge, call(1, 'show'))).status, 200);
  await bridge.until(/'server': clients would reject tools\/list because of 1 .*: it has no name, so the bridge drops the entry/);
});

test('R002-9: a call may come as an invocation, on standard input and by HTTP', async (t) => {
  const topic = await topicOf(t);
  const pipe = await exposePipe(t, router, topic, 'desk', under({}));
  const http = await exposeHttp(t, router, topic, 'web', under({}));
  const invoke = (id, params) => requestText(id, 'mcp.tool.invoke', params);
  const rows = [
    [invoke(1, { tool: 'mcp.tool:add', input: { a: 2, b: 3 } }), 200],
    [invoke('"x"', { tool: 'mcp.tool:add', input: { a: 2 } }), 400],
    [invoke(3, { tool: 'mcp.tool:nobody', input: {} }), 404],
    [invoke(4, { tool: 'add', input: {} }), 400],
    [invoke(5, { tool: 'mcp.tool:lie', input: {} }), 502],
    [call(6, 'add', { a: 2 }), 400],
    [call(7, 'nobody'), 404],
  ];
  for (const [text, status] of rows) {
    const found = await post(http, text);
    assert.equal(found.text, await pipe.call(text), text);
    assert.equal(found.status, status, found.text);
    const told = await post(http, text, { headers: { accept: 'text/event-stream' } });
    assert.equal(told.status, 200);
  }
  const bare = await exposePipe(t, router, topic, 'bare');
  assert.equal((await bare.ask(rows[0][0])).error.code, -32601);
});

/* Calls in which a member that decides something stands twice, so that two readers see two calls. */
const BROKEN = [
  '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","name":"fail"}}',
  '{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"add"},"params":{"name":"fail"}}',
  '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":1,"progressToken":2}}}',
  '{"jsonrpc":"2.0","id":11,"method":"tools/call","method":"ping","params":{"name":"add"}}',
];

test('R002-16: the same calls leave the same lines, whichever way they came', async (t) => {
  const topic = await topicOf(t);
  const logs = [logFolder(t), logFolder(t)];
  const terms = (log) => under({ log: { dir: log.dir }, result: 'mcp.envelope.v0.1' }, '--deterministic-ids');
  const pipe = await exposePipe(t, router, topic, 'desk', terms(logs[0]));
  const http = await exposeHttp(t, router, topic, 'web', terms(logs[1]));
  const texts = [call(1, 'add', { a: 1, b: 2 }), call(2, 'add', { a: 1 }), call(3, 'nobody'),
    call(4, 'fail'), requestText(5, 'mcp.tool.invoke', { tool: 'mcp.tool:add', input: { a: 3, b: 4 } }),
    call(6, 'add', { a: 1, b: 2 }), ...BROKEN];
  for (const text of texts) assert.equal((await post(http, text)).text, await pipe.call(text), text);
  const without = ({ ts, durationMs, transport, ...rest }) => rest;
  const [first, second] = logs.map((log) => log.validation());
  assert.deepEqual(first.map(without), second.map(without));
  assert.deepEqual([first[0].transport, second[0].transport], ['stdio', 'http']);
  assert.deepEqual(first.map(({ route }) => route).filter((route) => route !== 'tools/call'), ['mcp.tool.invoke']);
  assert.equal(first.length, texts.length);
  assert.deepEqual(first.slice(-BROKEN.length).map(({ tool, status, error }) => [tool, status, error]),
    ['/params/name', '/params', null, '/method'].map((path) => [null, 'error',
      { canonical_code: 'INVALID_INPUT', cause: 'invocation', path }]));
  assert.deepEqual(...logs.map((log) => log.telemetry().map(({ ts, durationMs, ...rest }) => rest)));
});

test('each call has one result in the log, also when its client leaves and when the bridge ends',
  async (t) => {
    const log = logFolder(t);
    const http = await exposeHttp(t, router, await topicOf(t), 'web', under({ log: { dir: log.dir } }));
    const results = () => log.telemetry().filter(({ eventName }) => eventName === 'mcp.tool.result');
    const raw = await RawClient.open(http);
    raw.post(call(1, 'wait'));
    /* It may come before the server's tools are known, and waits for them. */
    assert.match((await post(http, call(2, 'add', { a: 1, b: 1 }))).text, /"sum":2/);
    await eventually(() => log.telemetry().some(({ toolName }) => toolName === 'wait'), 'the call was not written down');
    raw.close();
    await eventually(() => results().length >= 2, 'no result of the call that was taken back');
    const last = post(http, call(4, 'wait'));
    await eventually(() => log.telemetry().length >= 5, 'the last call was not written down');
    http.kill();
    await last;
    await http.end();
    assert.deepEqual(results().map(({ toolName, status }) => [toolName, status]),
      [['add', 'ok'], ['wait', 'error'], ['wait', 'error']]);
    assert.equal(log.validation().length, 3);
  });

test('a call that still waited for the topic has its line, too', async (t) => {
  const log = logFolder(t);
  const program = Program.start('mcpx-bridge', ['expose', '--url', 'ws://127.0.0.1:9/ws',
    '--topic', 'nowhere', '--contracts', JSON.stringify({ log: { dir: log.dir } })],
  { stdin: 'pipe', stdout: 'kept', env: { MCPX_TOKEN: 'x.y.z' } });
  t.after(async () => { program.kill('SIGKILL'); await program.end(); });
  const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}';
  program.stdin.write(`${call(1, 'add')}\n${call(2, 'add')}\n${cancel}\n${requestText(3, 'ping')}\n`);
  await program.says(/^{"jsonrpc":"2.0","id":3,"result":{}}\n/);
  program.kill('SIGTERM');
  assert.deepEqual(await program.end(), { code: 0, signal: null });
  assert.deepEqual(log.validation().map(({ status, error }) => [status, error.cause]),
    [['error', 'unavailable'], ['error', 'unavailable']]);
});
