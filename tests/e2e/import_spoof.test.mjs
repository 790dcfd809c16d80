/*
 * The story: mallory sits at the same table as a server that can do damage. The router decides by
 * kinds and never looks into payloads, so whoever executes payloads has to hold them against the
 * kind, the addressees and the sender. Each test is one lie. Protocol: sections 2, 3 and 5.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderFor } from './lib/folder.mjs';
import { startImport } from './lib/import.mjs';
import { ownServer, Room, serverProgram } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';
import { callOf, Seat } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const COMMAND = ownServer('patient_server');
const rpc = (id, method, params = {}) => ({ jsonrpc: '2.0', id, method, params });
const TO = { to: ['server'] };

async function table(t, { early } = {}) {
  const room = new Room(t, router);
  const mallory = await room.join('mallory', ['mcp/*', 'chat']);
  await early?.(mallory);
  const bridge = await startImport(t, router, room.topic, 'server', COMMAND);
  const seat = await room.seat('ann', ['mcp/*'], 'server');
  const call = async (method, params) => (await seat.ask(JSON.stringify(rpc(1, method, params)))).result;
  return { room, bridge, mallory, seat, call };
}

const ECHO = rpc(1, 'echo', { n: 1 });
const LIES = {
  'a kind that names another method': ['mcp/request:ping', ECHO],
  'a kind that names another tool': ['mcp/request:tools/call:safe', rpc(1, 'tools/call', { name: 'rm' })],
  'a method that stands twice': ['{"protocol":"mcpx/v0.1","id":"twice",'
    + '"to":["server"],"kind":"mcp/request:ping","payload":'
    + '{"jsonrpc":"2.0","id":1,"method":"ping","method":"echo","params":{"n":1}}}'],
  'a proposal that could be executed': ['mcp/proposal:echo', ECHO],
  'a proposal': ['mcp/proposal:echo', { method: 'echo', params: { n: 1 } }],
  'a chat that could be executed': ['chat', ECHO],
  'a response with a method': ['mcp/response:echo', ECHO],
  'a request for somebody else': ['mcp/request:echo', ECHO, { to: ['ann'] }],
};

for (const [name, [kind, payload, to = TO]] of Object.entries(LIES)) {
  test(`not executed: ${name}`, async (t) => {
    const { mallory, seat, room, call } = await table(t);
    if (payload) mallory.send(kind, payload, to);
    else mallory.sendText(kind);
    await room.settle(mallory, seat.participant);
    assert.equal(await call('count'), 0);
    assert.deepEqual(await call('echo', { n: 1 }), { n: 1 });
    assert.equal(await call('count'), 1);
  });
}

test('not executed: what was asked before the server came', async (t) => {
  const { call } = await table(t, { early: async (mallory) => {
    mallory.send('mcp/request:echo', rpc(1, 'echo', { n: 1 }), TO);
    await mallory.untilId(mallory.send('mcp/request:echo', rpc(1, 'echo', { n: 2 })));
  } });
  assert.equal(await call('count'), 0);
});

test('a question of the server is answered by who was asked, not by who is quicker', async (t) => {
  const { room, mallory } = await table(t);
  const bob = await room.join('bob', ['mcp/*']);
  const id = bob.send('mcp/request:tools/call:ask', rpc(5, 'tools/call', { name: 'ask' }), TO);
  const { envelope: question } = await mallory.until(
    (e) => e.kind === 'mcp/request:elicitation/create', 'the question');
  assert.deepEqual(question.to, ['bob']);
  const answer = (who, result) => who.send('mcp/response:elicitation/create',
    { jsonrpc: '2.0', id: question.payload.id, result }, { ...TO, correlation_id: question.id });
  answer(mallory, 'mallory was here');
  await room.settle(mallory, bob);
  answer(bob, 'bob says no');
  const { envelope } = await bob.until((e) => e.correlation_id === id
    && e.kind.startsWith('mcp/response'), 'the answer');
  assert.equal(envelope.payload.result, 'bob says no');
});

test('nobody confirms what another has asked for', async (t) => {
  const { room, mallory } = await table(t);
  const bob = await room.join('bob', ['mcp/*']);
  const call = (who, params) =>
    who.send(`mcp/request:tools/call:${params.name}`, rpc(5, 'tools/call', params), TO);
  const id = call(bob, { name: 'ask', arguments: { later: true } });
  await mallory.untilId(id);
  call(mallory, { name: 'wait' });
  const { envelope } = await bob.until((e) => e.correlation_id === id
    && e.kind.startsWith('mcp/response'), 'the answer');
  assert.match(envelope.payload.result.message, /several participants have calls under way.*--isolate/);
  assert.ok(!mallory.heard().some(({ kind }) => kind === 'mcp/request:elicitation/create'));
});

/** server-filesystem with two directories, of which it is given `srv`; `read()` tries the other. */
async function files(t, options = []) {
  const base = folderFor(t);
  for (const name of ['srv', 'secret']) {
    mkdirSync(join(base, name));
    writeFileSync(join(base, name, 'f.txt'), `what is in ${name}`);
  }
  const room = new Room(t, router);
  const mallory = await room.join('mallory', ['mcp/*']);
  await startImport(t, router, room.topic, 'server', [process.execPath,
    serverProgram('server-filesystem'), join(base, 'srv')],
  { options: options.map((word) => word.replace('BASE', base)) });
  const seat = new Seat(mallory, 'server');
  const read = async (name) => (await seat.ask(callOf(1, 'read_text_file', { path: join(base, name, 'f.txt') })))
    .result.content[0].text;
  return { base, mallory, read };
}

test('what a file server may touch is not a guest\'s to say', async (t) => {
  const { base, mallory, read } = await files(t);
  mallory.listen((e) => {
    if (e.kind !== 'mcp/request:roots/list') return;
    mallory.send('mcp/response:roots/list', { jsonrpc: '2.0', id: e.payload.id,
      result: { roots: [{ uri: `file://${base}/secret` }] } }, { ...TO, correlation_id: e.id });
  });
  assert.match(await read('secret'), /Access denied/);
  for (let i = 0; i < 10; i += 1) {
    mallory.send('mcp/request:notifications/roots/list_changed',
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, i % 2 ? TO : {});
    assert.match(await read('secret'), /Access denied/);
  }
  assert.equal(await read('srv'), 'what is in srv');
  assert.ok(!mallory.heard().some(({ kind }) => kind === 'mcp/request:roots/list'));
});

test('a file server serves the roots that its operator states', async (t) => {
  const { read } = await files(t, ['--root', 'file://BASE/secret']);
  await eventually(async () => await read('secret') === 'what is in secret', 'the roots are not stated');
  assert.match(await read('srv'), /Access denied/);
});
