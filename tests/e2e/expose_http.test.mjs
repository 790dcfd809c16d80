/*
 * The story: several programs on one machine share a topic as one MCP server by HTTP. They do not
 * know of each other, count their requests alike, and come and go; a web page, a slow client or a
 * broken one must not get at the topic, nor keep the others from it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport }
  from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { exposeCommand, inspect } from './lib/expose.mjs';
import { exposeHttp, post, RawClient, requestText } from './lib/expose_http.mjs';
import { readyImport } from './lib/import.mjs';
import { Program } from './lib/program.mjs';
import { ownServer, serverProgram } from './lib/room.mjs';
import { eventually, inTime, Router } from './lib/router.mjs';

const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const EVENTS = { accept: 'application/json, text/event-stream' };

const router = await Router.startFor({ after });

/** A room with one server, and an expose that serves it by HTTP. */
async function roomOf(t, command, more = {}) {
  const topic = `http-${randomUUID()}`;
  await readyImport(t, router, topic, 'files', command);
  return { topic, bridge: await exposeHttp(t, router, topic, 'desk', more) };
}

const echo = () => ownServer('echo_server');
const patient = () => ownServer('patient_server');
const plain = { options: ['--names', 'plain'] };
const callOf = (id, name, args = {}) => requestText(id, 'tools/call', { name, arguments: args });

/** What the patient server says when it is asked for `name`. */
async function ask(bridge, name) {
  return JSON.parse((await post(bridge, callOf(0, name))).text).result;
}

/** Waits until the patient server was told so many cancellations. */
const cancelled = (bridge, count) => eventually(async () => await ask(bridge, 'cancelled') >= count,
  () => `no cancellation\n${bridge.log}`);

/* A thousand messages: every sort there is, with ids that programs like to choose. */
function messages() {
  const ids = ['1', '"1"', '-7', '9007199254740993', '"a\\u0062\\"c"', '0', '"grüße 🦊"', '""'];
  const sorts = [
    (id) => requestText(id, 'ping'),
    (id) => requestText(id, 'tools/list'),
    (id) => requestText(id, 'tools/list', { cursor: 'x' }),
    (id, n) => callOf(id, 'files__echo', { text: `n ${n} \u0001 ü` }),
    (id) => callOf(id, 'files__nothing'),
    (id) => requestText(id, 'tools/call', { name: 5 }),
    (id) => requestText(id, 'no/such/method'),
    (id) => requestText(id, 'initialize', { protocolVersion: '2025-06-18', capabilities: {},
      clientInfo: { name: 'x', version: '1' } }),
    (id) => requestText(id, 'server/discover',
      { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }),
    (id) => requestText(id, 'ping', { _meta: { 'io.modelcontextprotocol/protocolVersion': 'x' } }),
    (id) => `{"jsonrpc":"1.0","id":${id},"method":"ping"}`,
    (id) => `[{"jsonrpc":"2.0","id":${id},"method":"ping"}]`,
    (id) => `{"jsonrpc":"2.0","id":${id},"id":${id},"method":"ping"}`,
    (id) => `{"id":${id},"method":"ping"}`,
    () => '{"method":"ping"}',
    () => '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    () => '{"jsonrpc":"2.0","id":1',
    () => 'nonsense',
    () => '"a text"',
    (id, n) => `  {"method" : "tools/call", "params":{"arguments":{"text":"${n}"},`
      + `"name":"files__echo"} , "id": ${id},"jsonrpc":"2.0"}  `,
  ];
  return Array.from({ length: 1000 }, (_, n) => sorts[n % sorts.length](ids[n % ids.length], n));
}

test('a thousand messages get the same bytes by HTTP as on standard input', async (t) => {
  const { topic, bridge } = await roomOf(t, echo());
  const { command, args, env } = await exposeCommand(router, topic, 'pipe');
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const statuses = new Set();
  for (const message of messages()) {
    child.stdin.write(`${message}\n`);
    const [{ value: expected }, found] = await Promise.all(
      [inTime(lines.next(), () => `${message} was not answered`), post(bridge, message)]);
    assert.equal(found.text, expected, message);
    statuses.add(found.status);
  }
  assert.deepEqual([...statuses].sort(), [200, 400, 404, 500]);
});

test('R002-12: requests side by side, all with the same id, get each its own answer', async (t) => {
  const { bridge } = await roomOf(t, echo());
  await post(bridge, requestText(1, 'tools/list'));
  const texts = Array.from({ length: 60 }, (_, n) => `text ${n}`);
  const found = await Promise.all(texts.map((text) => post(bridge, callOf(1, 'files__echo', { text }))));
  assert.deepEqual(found.map(({ text }) => text), texts.map((text) =>
    `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${text}"}]}}`));
});

test('one that waits keeps nobody waiting, and what is broken takes nobody\'s answer', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  const waiting = post(bridge, callOf('"mine"', 'wait'));
  assert.equal(await ask(bridge, 'cancelled'), 0);
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const { status, text } = await post(bridge, `{"jsonrpc":"1.0","id":${number},"method":"x"}`);
    assert.equal(status, 400);
    assert.ok(text.startsWith(`{"jsonrpc":"2.0","id":${number},"error":{"code":-32600,`), text);
  }
  for (const text of [`{"jsonrpc":"2.0","id":1,"result":{}}`,
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"mine"}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}']) {
    const { status, text: body } = await post(bridge, text);
    assert.deepEqual([status, body], [202, '']);
  }
  assert.equal(await ask(bridge, 'release'), true);
  const { status, text } = await waiting;
  assert.deepEqual([status, text], [200, '{"jsonrpc":"2.0","id":"mine","result":"released"}']);
  assert.equal(await ask(bridge, 'cancelled'), 0);
});

test('a client that goes away takes its call back', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  const leave = new AbortController();
  const left = post(bridge, callOf(1, 'wait'), { signal: leave.signal });
  const raw = await RawClient.open(bridge);
  raw.post(callOf(1, 'wait'));
  assert.equal(await ask(bridge, 'cancelled'), 0);
  raw.close();
  await cancelled(bridge, 1);
  leave.abort();
  await assert.rejects(left);
  await cancelled(bridge, 2);
  const next = post(bridge, callOf(1, 'wait'));
  assert.equal(await ask(bridge, 'release'), true);
  assert.equal(await ask(bridge, 'cancelled'), 2);
  bridge.kill();
  await next.then(({ status, text }) => assert.deepEqual(
    [status, JSON.parse(text).id, JSON.parse(text).error.code], [503, 1, -31000]));
});

test('errors have their status, and 200 for a client that takes event streams', async (t) => {
  const { bridge } = await roomOf(t, echo());
  const rows = [
    [requestText(1, 'ping'), 200],
    ['', 400],
    ['{', 400],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400],
    [requestText(1, 'no/such'), 404],
    [requestText(1, 'subscriptions/listen', { notifications: {} }), 404],
    [callOf(1, 'nobody__has'), 500],
  ];
  for (const [text, status] of rows) {
    const found = await post(bridge, text);
    assert.equal(found.status, status, text);
    assert.equal(found.headers.get('content-type'), 'application/json');
    const told = await post(bridge, text, { headers: EVENTS });
    assert.deepEqual([told.status, told.text], [200, found.text]);
  }
});

test('heads that another reader could take for something else are refused', async (t) => {
  const { bridge } = await roomOf(t, echo());
  const body = requestText(1, 'ping');
  const good = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`];
  const [host, type, length] = good;
  const rows = [
    ['POST /mcp', good, 200],
    ['POST /mcp', ['Host: 127.0.0.1:1', type, length, 'Origin: http://localhost:5173'], 200],
    ['POST /mcp', ['host: [::1]:80', 'content-type: Application/JSON ; charset=utf-8', length], 200],
    ['POST /mcp', ['Host:127.0.0.1', 'X-Empty:', type, length], 200],
    ['POST /mcp', ['Host: 127.0.0.1\0.evil.example', type, length], 400],
    ['POST /mcp', ['Host: 127.0.0.1\0', type, length], 400],
    ['POST /mcp', [...good, 'Origin:\0http://evil.example'], 400],
    ['POST /mcp', [...good, 'X-Last: 1\0x'], 400],
    ['POST /mcp\0x', good, 400],
    ['POST\0X /mcp', good, 400],
    ['POST /mcp', ['Host: rebound.example', type, length], 403],
    ['POST /mcp', ['Host:', type, length], 403],
    ['POST /mcp', [host, 'Host: evil.example', type, length], 400],
    ['POST /mcp', [type, length], 400],
    ['POST /mcp', [...good, 'Origin: http://evil.example'], 403],
    ['POST /mcp', [...good, 'Origin: http://localhost', 'Origin: http://evil.example'], 400],
    ['POST http://evil.example/mcp', good, 404],
    ['GET /mcp', [host], 405],
    ['OPTIONS /mcp', [host, 'Origin: http://localhost:1'], 405],
    ['POST /mcp', [host, 'Content-Type: text/plain', length], 415],
    ['POST /mcp', [...good, 'Content-Length: 3'], 400],
    ['POST /mcp', [...good, 'Transfer-Encoding: chunked'], 400],
    ['POST /mcp', [host, type, 'Transfer-Encoding: gzip'], 501],
    ['POST /mcp', [...good, `X-Long: ${'x'.repeat(16384)}`], 431],
    ['HEAD /mcp', [host], 405],
    ['POST /mcp', [host, type, 'Content-Length: -1'], 400],
    ['POST /mcp', [host, type, 'Content-Length: 999999999999'], 413],
    ['POST /mcp', [host, type, 'Content-Length: 999999999999', 'Expect: 100-continue'], 413],
  ];
  for (const [line, fields, status] of rows) {
    const raw = await RawClient.open(bridge);
    raw.say(`${line} HTTP/1.1\r\n${fields.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);
    const heard = await raw.statusAtEnd(line + fields);
    assert.equal(heard, status, `${line} ${fields.join(' | ')}: ${raw.heard}`);
    assert.doesNotMatch(raw.heard, /access-control/i);
    if (status !== 200) assert.doesNotMatch(raw.heard, /"result"/);
    assert.equal(/"jsonrpc"/.test(raw.heard), !line.startsWith('HEAD'), raw.heard);
  }
});

test('bodies come whole, in chunks, after 100-continue and one behind the other', async (t) => {
  const { bridge } = await roomOf(t, echo());
  const ping = (id) => requestText(id, 'ping');
  const whole = (text) => `${head}Content-Length: ${text.length}\r\n\r\n${text}`;
  const raw = await RawClient.open(bridge);
  raw.say(whole(ping('"a"')) + whole(ping('"b"')) + whole(ping('"c"')));
  await raw.until(/"a".*"b".*"c","result":\{\}\}$/s);
  raw.say(`${head}Expect: 100-continue\r\nContent-Length: ${ping(4).length}\r\n\r\n`);
  await raw.until(/HTTP\/1\.1 100 Continue/);
  raw.say(ping(4));
  await raw.until(/"id":4,"result":\{\}\}$/);
  raw.say(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  for (const byte of ping(5)) raw.say(`1\r\n${byte}\r\n`);
  raw.say(`0\r\n\r\n${whole(ping('"behind"'))}`);
  await raw.until(/"id":5,"result":\{\}\}.*"id":"behind","result":\{\}\}$/s);
  raw.say(`${head}Transfer-Encoding: chunked\r\n\r\nnonsense\r\n`);
  assert.ok(await raw.statusAtEnd() === 200 && !/"id":6/.test(raw.heard));
});

test('a body of any size up to the longest line is heard, and a longer one is not', async (t) => {
  const { bridge } = await roomOf(t, echo());
  const { status } = await post(bridge, requestText(1, 'ping', { fill: 'x'.repeat(1 << 20) }));
  assert.equal(status, 200);
  const raw = await RawClient.open(bridge);
  const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  raw.say(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  for (let i = 0; i < 66; i += 1) raw.say(chunk);
  raw.say('0\r\n\r\n');
  assert.equal(await raw.statusAtEnd(), 413);
});

test('nobody keeps others out by opening connections and saying nothing', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  const waiting = post(bridge, callOf(1, 'wait'));
  assert.equal(await ask(bridge, 'cancelled'), 0);
  const silent = [];
  for (let i = 0; i < 1000; i += 1) {
    const raw = await RawClient.open(bridge);
    if (i % 2) raw.say('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
    silent.push(raw);
  }
  const raw = await RawClient.open(bridge);
  raw.post(callOf(2, 'release'));
  await raw.until(/"id":2,"result":true/);
  assert.equal((await waiting).text, '{"jsonrpc":"2.0","id":1,"result":"released"}');
  await inTime(silent[0].closed, 'the one that was silent longest is still there');
  for (const one of [raw, ...silent]) one.close();
});

test('what does not go on within 30 seconds ends, but not a call that waits', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  await ask(bridge, 'cancelled');
  const [silent, slowHead, slowBody, kept, waiting] =
    await Promise.all([1, 2, 3, 4, 5].map(() => RawClient.open(bridge)));
  const drip = setInterval(() => [slowHead, slowBody].forEach((raw) => raw.say(' ')), 1000);
  t.after(() => { clearInterval(drip); waiting.close(); });
  slowHead.say('POST /mcp HTTP/1.1\r\nX: ');
  slowBody.say(`${head}Content-Length: 99\r\n\r\n`);
  kept.post(requestText(1, 'ping'));
  waiting.post(callOf(2, 'wait'));
  await new Promise((done) => { setTimeout(done, 28000); });
  const owing = [silent, slowHead, slowBody, kept];
  assert.ok(!owing.some((raw) => raw.isClosed));
  for (const raw of owing) await inTime(raw.closed, 'it is still there');
  assert.equal(await ask(bridge, 'release'), true);
  await waiting.until(/"id":2,"result":"released"/);
});

test('nobody keeps others out by letting calls wait', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  const open = [];
  t.after(() => open.forEach((raw) => raw.close()));
  const send = async (from, body) => {
    const raw = await RawClient.open(bridge, from);
    open.push(raw);
    raw.post(body);
    return raw;
  };
  /* Sends calls that wait until one is refused; what it hears. */
  const fill = async (from, room) => {
    const sent = [];
    for (let i = 0; i <= room; i += 1) sent.push(await send(from, callOf(i, 'wait')));
    const refused = await inTime(Promise.any(sent.map(async (raw) =>
      (await raw.until(/^HTTP\/1\.1 429 [^]*Retry-After: [1-9][^]*"code":-31000[^]*"retryAfterMs":[1-9]/), raw))),
    () => `more than ${room} calls from ${from} wait`);
    assert.equal(sent.filter((raw) => raw !== refused && raw.heard).length, 0, 'no other is refused');
  };
  await ask(bridge, 'cancelled');
  await fill('127.0.0.1', 120);
  const other = await send('127.0.0.2', callOf('"other"', 'release'));
  await other.until(/^HTTP\/1\.1 200 [^]*"id":"other","result":true/);
  /* One of the first was released. */
  await inTime(Promise.any(open.map((raw) => raw.until(/"result":"released"/))), 'none was released');
  await fill('127.0.0.2', 120);
  const last = await Promise.all(['127.0.0.3', '127.0.0.4'].map((from) => send(from, callOf(1, 'wait'))));
  await inTime(Promise.any(last.map((raw) => raw.until(/^HTTP\/1\.1 503 [^]*Retry-After: [1-9][^]*"retryAfterMs":[1-9]/))),
    'both of the last wait');
});

test('nobody keeps others out by large calls that wait', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  await ask(bridge, 'cancelled');
  const open = await Promise.all([1, 2, 3].map(() => RawClient.open(bridge, '127.0.0.5')));
  t.after(() => open.forEach((raw) => raw.close()));
  for (const raw of open) raw.post(callOf(`"${'x'.repeat(30 << 20)}"`, 'wait'));
  await Promise.any(open.map((raw) => raw.until(/^HTTP\/1\.1 429 /)));
  assert.equal(await ask(bridge, 'cancelled'), 0);
});

test('nobody keeps others out by bodies that never end: who holds most gives way', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  const [size, rest] = [60 << 20, 10];
  const open = await Promise.all([1, 2, 3, 4].map(() => RawClient.open(bridge, '127.0.0.4')));
  t.after(() => open.forEach((raw) => raw.close()));
  for (const raw of open) {
    raw.say(`${head}Content-Length: ${size}\r\n\r\n`);
    await raw.say(' '.repeat(size - rest));
  }
  for (let i = 0; i < 5; i += 1) {
    const { status } = await post(bridge, requestText(i, 'ping', { fill: 'x'.repeat(8 << 20) }));
    assert.equal(status, 200);
  }
  for (const raw of open) raw.say(' '.repeat(rest));
  await inTime(Promise.any(open.map((raw) =>
    raw.until(/^HTTP\/1\.1 503 [^]*Retry-After: [^]*too many bodies and answers are on their way/))),
  'nobody was told that a body was given up');
});

test('servers may ask nothing, and nothing is pushed', async (t) => {
  const { bridge } = await roomOf(t, patient(), plain);
  await post(bridge, requestText(1, 'initialize', { protocolVersion: '2025-11-25',
    capabilities: { elicitation: {}, sampling: {}, roots: {} }, clientInfo: { name: 'x', version: '1' } }));
  await post(bridge, '{"jsonrpc":"2.0","method":"notifications/initialized"}');
  const { text } = await post(bridge, requestText(2, 'tools/call',
    { name: 'ask', arguments: {}, _meta: { progressToken: 2 } }));
  assert.equal(JSON.parse(text).result.code, -32601, text);
});

test('the official clients and the Inspector need nothing special', async (t) => {
  const { bridge } = await roomOf(t, [process.execPath, serverProgram('server-everything'), 'stdio'], plain);
  const clients = [
    [new Client({ name: 'first', version: '1' }), new StreamableHTTPClientTransport(new URL(bridge.url))],
    [new Client({ name: 'other', version: '1' }), new StreamableHTTPClientTransport(new URL(bridge.url))],
    ...['legacy', { pin: '2026-07-28' }].map((mode) => [
      new ModernClient({ name: 'second', version: '1' }, { versionNegotiation: { mode } }),
      new ModernTransport(new URL(bridge.url))]),
  ];
  for (const [client, transport] of clients) {
    await inTime(client.connect(transport), () => `no session\n${bridge.log}`);
    t.after(() => client.close());
  }
  const { tools } = await clients[0][0].listTools();
  assert.ok(tools.some(({ name }) => name === 'get-sum'));
  const sums = await Promise.all(clients.flatMap(([client], n) => [0, 1, 2, 3].map(async (b) => {
    const { content } = await client.callTool({ name: 'get-sum', arguments: { a: 10 * n, b } });
    assert.match(content[0].text, new RegExp(` ${10 * n + b}\\b`));
    return true;
  })));
  assert.equal(sums.length, 4 * clients.length);
  await assert.rejects(clients[0][0].request({ method: 'no/such', params: {} },
    { parse: (value) => value, safeParse: (value) => ({ success: true, data: value }) }), /no method/);
  await inspect([bridge.url, '--transport', 'http', '--method', 'tools/call',
    '--tool-name', 'get-sum', '--tool-arg', 'a=2', '--tool-arg', 'b=40'], {},
  ({ content }) => /42/.test(content[0].text));
});

test('it listens where this machine alone can reach it, or not at all', async (t) => {
  const { topic, bridge } = await roomOf(t, echo());
  const six = await exposeHttp(t, router, topic, 'six', { listen: '[::1]:0' });
  assert.equal((await post(six, requestText(1, 'ping'))).status, 200);
  const { args, env } = await exposeCommand(router, topic, 'more');
  const rows = [['0.0.0.0:0', 2], ['192.168.1.1:80', 2], ['example.org:80', 2], ['127.0.0.1', 2],
    ['[::1]', 2], [':80', 2], ['127.0.0.1:65536', 2], ['', 2], [`127.0.0.1:${bridge.port}`, 1]];
  for (const [listen, status] of rows) {
    const program = Program.start('mcpx-bridge', [...args, '--http', listen], { env });
    assert.equal((await program.end()).code, status, `${listen}: ${program.log}`);
    assert.match(program.log, status === 2 ? /--http needs/
      : new RegExp(`cannot listen on port ${bridge.port}: .*in use; .*give --http another port`));
  }
});
