/*
 * The story: somebody has an ordinary MCP server and an ordinary MCP client and puts a room
 * between them. Everything MCP offers must work as over a pipe, though neither side knows of
 * envelopes. If this breaks, the router is of no use to anybody who has tools already.
 * Protocol: sections 2, 4 and 5.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CreateMessageRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

let router;
before(async () => { router = await Router.start(); });
after(() => router?.stop());

const CLIENT = ['mcp/request:*', 'mcp/response:*', 'chat'];

/** A room with server-everything, one client, and a witness who may say nothing. */
async function session(t, more) {
  const room = new Room(t, router);
  const server = await room.everything();
  const witness = await room.join('witness', []);
  return { room, server, witness, ...await room.client('alice', CLIENT, more) };
}

/** The kinds of the MCP traffic the witness saw, in order. */
function kindsSeen(witness) {
  return witness.heard().map(({ kind }) => kind).filter((kind) => kind.startsWith('mcp/'));
}

test('a client initialises a session with a server at the table', async (t) => {
  const { client, witness, room, participant } = await session(t);
  assert.equal(client.getServerVersion().name, 'mcp-servers/everything');
  assert.ok(client.getServerCapabilities().tools);
  await room.settle(participant, witness);
  assert.deepEqual(kindsSeen(witness).slice(0, 3), ['mcp/request:initialize',
    'mcp/response:initialize', 'mcp/request:notifications/initialized']);
});

test('tools are listed and called, and the response kind names the tool', async (t) => {
  const { client, witness, server } = await session(t);
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === 'echo'));
  const result = await client.callTool({ name: 'echo', arguments: { message: 'grüße 🦊' } });
  assert.equal(result.content[0].text, 'Echo: grüße 🦊');
  const request = await witness.until((e) => e.kind === 'mcp/request:tools/call:echo', 'the call');
  const response = await witness.until((e) => e.correlation_id === request.envelope.id, 'its answer');
  assert.equal(server.participant.sent.get(response.envelope.id), 'mcp/response:tools/call');
  assert.equal(response.envelope.kind, 'mcp/response:tools/call:echo');
  assert.deepEqual(response.envelope.to, ['alice']);
  assert.equal(response.envelope.from, 'everything');
});

test('resources are listed and read, and the URI is the context', async (t) => {
  const { client, witness } = await session(t);
  const { resources } = await client.listResources();
  const { uri } = resources[0];
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].uri, uri);
  assert.ok(contents[0].text.length > 0);
  await witness.until((e) => e.kind === `mcp/response:resources/read:${uri}`, 'the derived kind');
});

test('a prompt is fetched, and the prompt is the context', async (t) => {
  const { client, witness } = await session(t);
  const { messages } = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Basel' } });
  assert.match(messages[0].content.text, /Basel/);
  await witness.until((e) => e.kind === 'mcp/response:prompts/get:args-prompt', 'the derived kind');
});

test('an argument is completed, and the reference is the context', async (t) => {
  const { client, witness } = await session(t);
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'department', value: 'E' },
  });
  assert.deepEqual(completion.values, ['Engineering']);
  await witness.until((e) => e.kind === 'mcp/response:completion/complete:completable-prompt',
    'the derived kind');
});

test('progress of a long call reaches the caller while it runs', async (t) => {
  const { client, witness } = await session(t);
  const steps = [];
  const result = await client.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
    undefined, { onprogress: ({ progress, total }) => steps.push(`${progress}/${total}`) });
  assert.match(result.content[0].text, /Long running operation completed/);
  assert.deepEqual(steps, ['1/3', '2/3', '3/3']);
  const request = await witness.until((e) => /request:.*trigger-long/.test(e.kind), 'the call');
  await witness.until((e) => /response:.*trigger-long/.test(e.kind), 'its answer');
  const progress = witness.heard().filter((e) => e.kind === 'mcp/request:notifications/progress');
  assert.equal(progress.length, 3);
  assert.ok(progress.every((e) => e.correlation_id === request.envelope.id));
});

test('a tool that fails answers with its error, under the derived kind too', async (t) => {
  const { client, witness } = await session(t);
  const result = await client.callTool({ name: 'echo', arguments: {} });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /message/);
  const response = await witness.until((e) => e.kind === 'mcp/response:tools/call:echo', 'it');
  assert.equal(response.envelope.payload.result.isError, true);
});

test('a JSON-RPC error comes back as one', async (t) => {
  const { client, witness } = await session(t);
  await assert.rejects(client.getPrompt({ name: 'no-such-prompt' }), (error) => {
    assert.ok(error instanceof McpError);
    assert.match(error.message, /no-such-prompt/);
    return true;
  });
  await witness.until((e) => e.kind === 'mcp/response:prompts/get:no-such-prompt' && e.payload.error,
    'the error under the derived kind');
});

test('the server asks its client, and the answer finds its way back', async (t) => {
  const { client, witness } = await session(t, {
    offers: { sampling: {} },
    prepare: (one) => one.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'none', role: 'assistant', content: { type: 'text', text: 'forty-two' },
    })),
  });
  const result = await client.callTool({ name: 'trigger-sampling-request',
    arguments: { prompt: 'six times seven?', maxTokens: 10 } });
  assert.match(JSON.stringify(result.content), /forty-two/);
  const asked = await witness.until((e) => e.kind === 'mcp/request:sampling/createMessage', 'it');
  assert.equal(asked.envelope.from, 'everything');
  const told = await witness.until((e) => e.correlation_id === asked.envelope.id, 'the answer');
  assert.equal(told.envelope.kind, 'mcp/response:sampling/createMessage');
});

test('two clients that count from the same id get their own answers', async (t) => {
  const { room, client: alice } = await session(t);
  const { client: bob } = await room.client('bob', CLIENT);
  const sums = await Promise.all(Array.from({ length: 40 }, async (_, n) => {
    const client = n % 2 === 0 ? alice : bob;
    const { content } = await client.callTool({ name: 'get-sum', arguments: { a: n, b: 1000 } });
    return content[0].text;
  }));
  sums.forEach((text, n) => assert.match(text, new RegExp(`\\b${n + 1000}\\b`)));
  assert.deepEqual(alice.errors, []);
  assert.deepEqual(bob.errors, []);
});

test('a request whose payload says more than its kind is not executed', async (t) => {
  const { room, witness } = await session(t);
  const sly = await room.join('sly', ['mcp/request:tools/call:echo']);
  const id = sly.send('mcp/request:tools/call:echo',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get-env' } },
    { to: ['everything'] });
  const { envelope } = await witness.until((e) => e.correlation_id === id, 'an answer');
  assert.match(envelope.payload.error.message, /kind says echo, payload says get-env/);
  assert.equal(envelope.payload.result, undefined);
});
