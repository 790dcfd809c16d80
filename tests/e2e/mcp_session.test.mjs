/*
 * The story: somebody puts an ordinary MCP server into a room. Whoever watches must see what is asked
 * and what answers it, under kinds that name the tool, the resource or the prompt, though the server
 * knows of no envelopes. Protocol: sections 2, 4 and 5.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

/** A room with server-everything, somebody who asks it, and a witness who may say nothing. */
async function session(t) {
  const room = new Room(t, router);
  await room.everything();
  const witness = await room.join('witness', []);
  return { witness, alice: await room.seat('alice', ['mcp/request:*', 'mcp/response:*', 'chat']) };
}

/** Method, parameters, CONTEXT of both kinds, and what the answer says. */
const URI = 'demo://resource/dynamic/text/1';
const ROWS = [
  ['initialize', { protocolVersion: '2025-11-25', capabilities: {},
    clientInfo: { name: 'alice', version: '1' } }, '', /mcp-servers\/everything/],
  ['tools/list', {}, '', /"name":"echo"/],
  ['tools/call', { name: 'echo', arguments: { message: 'grüße 🦊' } }, ':echo', /Echo: grüße 🦊/],
  ['tools/call', { name: 'echo', arguments: {} }, ':echo', /message.*"isError":true/],
  ['resources/read', { uri: URI }, `:${URI}`, /"contents":\[/],
  ['prompts/get', { name: 'args-prompt', arguments: { city: 'Basel' } }, ':args-prompt', /Basel/],
  ['prompts/get', { name: 'no-such-prompt' }, ':no-such-prompt', /"error":.*no-such-prompt/],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'department', value: 'E' } }, ':completable-prompt', /\["Engineering"\]/],
];

test('what is asked and what answers it has a kind that names what it is about', async (t) => {
  const { witness, alice } = await session(t);
  for (const [method, params, context, says] of ROWS) {
    const id = alice.write(rpc(1, method, params));
    const request = await witness.untilId(id);
    const { raw, envelope } = await witness.until((e) => e.correlation_id === id, `what answers ${method}`);
    assert.equal(request.envelope.kind, `mcp/request:${method}${context}`);
    assert.equal(envelope.kind, `mcp/response:${method}${context}`);
    assert.deepEqual([envelope.from, envelope.to], ['everything', ['alice']]);
    assert.match(raw, says);
  }
});
