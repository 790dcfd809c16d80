/*
 * The story: the router's disk is full, or its store fails, for moments. Nobody's message is lost,
 * said twice or overtaken, no tool is run twice, and who sits at a terminal waits as long as he said.
 * Protocol: sections 6, 7 and 9.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exposePipe, untilTools } from './lib/expose.mjs';
import { folderFor } from './lib/folder.mjs';
import { failsAfter, FullRouter } from './lib/full_router.mjs';
import { readyImport, startImport } from './lib/import.mjs';
import { ends, mcpxctl, Program } from './lib/program.mjs';
import { relayTo } from './lib/relay.mjs';
import { ownServer, Room } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';
import { callOf } from './lib/wire.mjs';

const router = await Router.startFor({ after });

/** mcpxctl through `full`, as ann. */
async function ctl(full, topic, ...words) {
  const token = await router.token('ann', topic, ['mcp/*', 'chat']);
  return mcpxctl(words, { env: { MCPX_URL: full.url, MCPX_TOPIC: topic, MCPX_TOKEN: token } });
}

/** What a participant heard others say, in order. */
const said = (participant) => participant.received
  .filter(({ envelope: { kind } }) => kind === 'chat').map(({ envelope: { id } }) => id);

for (const [outcome, attempts] of [['refused', 3], ['unknown', 2]]) {
  test(`somebody at a terminal says one thing while the outcome is ${outcome}`, async (t) => {
    const room = new Room(t, router);
    const eye = await room.join('eye', ['chat']);
    const full = await FullRouter.start(t, router,
      () => (envelope, attempt) => (attempt < attempts ? outcome : undefined));
    const { stdout } = await ends(ctl(full, room.topic, 'say', 'hello', '--timeout', '60'));
    assert.equal(full.attempts.get(stdout.trim()), attempts, 'the same id each time');
    await room.settle(eye);
    assert.deepEqual(said(eye).slice(0, -1), [stdout.trim()], 'once');
  });
}

test('who waits for a store that does not come back waits as long as he said', async (t) => {
  const room = new Room(t, router);
  const eye = await room.join('eye', ['chat']);
  const full = await FullRouter.start(t, router, () => () => 'refused');
  const { stdout, stderr } = await ends(ctl(full, room.topic, 'say', 'hello', '--timeout', '1'), 124);
  assert.equal(stdout, '');
  assert.match(stderr, /has not confirmed delivery/);
  await room.settle(eye);
  assert.equal(said(eye).length, 1, 'the marker alone');
});

test('calls and answers that are not stored at first are carried out once, in their order', async (t) => {
  const CALLS = 150;
  const ledger = join(folderFor(t), 'ledger');
  const keys = Array.from({ length: CALLS }, (_, at) => `call-${at}`);
  const full = await FullRouter.start(t, router, () => failsAfter(20, ['refused', 'unknown']));
  await readyImport(t, full, 'full', 'files', ownServer('ledger_server', ledger));
  const desk = await exposePipe(t, full, 'full', 'desk');
  await untilTools(desk, 'files__note');
  const answers = await Promise.all(keys.map((key) => desk.ask(callOf(key, 'files__note', { key }))));
  assert.deepEqual(answers.map(({ result }) => result?.content[0].text), keys);
  assert.deepEqual(readFileSync(ledger, 'utf8').trim().split('\n'), keys);
  assert.ok(full.answered.refused > 0 && full.answered.unknown > 0, JSON.stringify(full.answered));
  t.diagnostic(`${CALLS} calls; answered unavailable: ${JSON.stringify(full.answered)}`);
});

test('who cannot enter for a moment comes back to the place he was at', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat']);
  const full = await FullRouter.start(t, router);
  const ids = [];
  const say = async () => {
    ids.push(bob.send('chat', { text: 'news' }));
    await bob.untilId(ids.at(-1));
  };
  const eye = Program.start('mcpxctl',
    ['watch', '--json', '--kind', 'chat', '--count', '4', '--url', full.url, '--topic', room.topic],
    { env: { MCPX_TOKEN: await router.token('eye', room.topic, []) }, stdout: 'kept' });
  t.after(() => eye.kill());
  await eye.until(/joined/);
  await say();
  await eye.says(new RegExp(ids[0]));
  full.closesNext = 2;
  full.close(1013, 'unavailable');
  await eye.until(/not connected any more: unavailable/);
  await say();
  await say();
  await eye.until(/joined[^]*joined/);
  await say();
  assert.equal((await eye.end()).code, 0, eye.log);
  assert.deepEqual(eye.output.trim().split('\n').map((line) => JSON.parse(line).id), ids);
});

test('who was closed by what stands before the router comes back, who broke the rules does not', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat']);
  const full = await FullRouter.start(t, router);
  const eye = Program.start('mcpxctl', ['watch', '--json', '--url', full.url, '--topic', room.topic],
    { env: { MCPX_TOKEN: await router.token('eye', room.topic, []) }, stdout: 'kept' });
  t.after(() => eye.kill());
  await eye.until(/joined/);
  const last = [];
  for (const [code, reason] of [[1012, 'Service Restart'], [1013, 'unavailable']]) {
    const id = bob.send('chat', { text: 'news' });
    const joins = eye.log.match(/joined/g).length;
    last.push(id);
    await eye.says(new RegExp(id));
    full.close(code, reason);
    await eye.until(new RegExp(`(joined[^]*){${joins + 1}}`));
  }
  full.close(1002, 'protocol_error');
  assert.notEqual((await eye.end()).code, 0, eye.log);
  assert.deepEqual(full.asked.map((asked) => asked.get('after')), [null, ...last]);
});

/** What stands before a router: passes all on, or answers with `page`, as often as it is asked. */
async function gatewayOf(t, router) {
  const gateway = { page: undefined, asked: 0 };
  const take = (client) => gateway.page
    && client.once('data', () => { gateway.asked += 1; client.end(gateway.page); });
  const { port, cut } = await relayTo(t, new URL(router.url).port, { take });
  return Object.assign(gateway, { url: `ws://127.0.0.1:${port}`, cut });
}

const pageOf = (status, type, body) => `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n`
  + `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
const PAGES = {
  404: pageOf('404 Not Found', 'text/plain', '404 page not found\n'),
  403: pageOf('403 Forbidden', 'text/html', '<html>one moment</html>'),
  401: pageOf('401 Unauthorized', 'application/json', '{"message":"No API key found"}'),
  '404 without a body': pageOf('404 Not Found', 'text/plain', ''),
};

/* A container is recreated behind its gateway, or a CDN asks for a moment. */
for (const [name, page] of Object.entries(PAGES)) {
  test(`a gateway's ${name} ends nobody who was in`, async (t) => {
    const gateway = await gatewayOf(t, router);
    const topic = `gateway-${name.replaceAll(' ', '-')}`;
    const through = { url: gateway.url, token: (...words) => router.token(...words) };
    const eye = Program.start('mcpxctl', ['watch', '--url', gateway.url, '--topic', topic],
      { env: { MCPX_TOKEN: await router.token('eye', topic, []) } });
    t.after(() => eye.kill());
    const bridge = await startImport(t, through, topic, 'files',
      ownServer('ledger_server', '/dev/null'));
    const desk = await exposePipe(t, through, topic, 'desk');
    await Promise.all([eye.until(/joined/), bridge.until(/is ready/), untilTools(desk, 'files__note')]);
    gateway.page = page;
    gateway.cut();
    await eventually(() => gateway.asked >= 6, () => `asked ${gateway.asked} times`);
    gateway.page = undefined;
    await Promise.all([eye.until(/joined[^]*joined/), bridge.until(/joined[^]*joined/)]);
    const answer = await desk.ask(callOf(1, 'files__note', { key: 'k' }));
    assert.equal(answer.result?.content[0].text, 'k', JSON.stringify(answer));
  });
}

test('who never was in is told what the gateway says, and ends', async (t) => {
  const gateway = await gatewayOf(t, router);
  gateway.page = PAGES[404];
  const { code, stderr } = await ctl(gateway, 'room', 'watch').catch(({ message }) => ({ stderr: message }));
  assert.notEqual(code, 0, stderr);
  assert.match(stderr, /HTTP status 404/);
});

/** A gateway at which the router is one of several: its paths are behind /mcpx there. */
async function startGateway(t) {
  const to = new URL(router.http);
  const gateway = createHttp((ask, answer) => {
    if (!ask.url.startsWith('/mcpx/')) answer.writeHead(404).end('no such service');
    else {
      ask.pipe(request({ host: to.hostname, port: to.port, method: ask.method, path: ask.url.slice(5),
        headers: ask.headers }, (got) => got.pipe(answer.writeHead(got.statusCode, got.headers))));
    }
  }).on('upgrade', (ask, socket) => {
    const lines = ask.rawHeaders.flatMap((name, i, all) => (i % 2 ? [] : [`${name}: ${all[i + 1]}`]));
    const upstream = connect(to.port, to.hostname);
    for (const [one, other] of [[socket, upstream], [upstream, socket]]) one.on('error', () => other.destroy()).pipe(other);
    if (ask.url.startsWith('/mcpx/')) {
      upstream.write([`${ask.method} ${ask.url.slice(5)} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    } else socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
  });
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    gateway.close();
    gateway.closeAllConnections();
  });
  return `127.0.0.1:${gateway.address().port}/mcpx`;
}

test('a router behind a path of a gateway is reached by every verb alike', async (t) => {
  const address = await startGateway(t);
  for (const url of [`ws://${address}`, `http://${address}/`, `ws://${address}/ws`]) {
    for (const words of [['say', 'hello'], ['history', '--json'], ['who', '--json'], ['status']]) {
      await ends(ctl({ url }, 'gateway', ...words), 0, undefined, `${words} at ${url}`);
    }
  }
});
