/*
 * agent.mjs - an agent in one page, on a plain WebSocket: it asks a server to write a file, and when
 * the router says that it may not, does what the refusal suggests and proposes it instead.
 *
 *     MCPX_URL=ws://... MCPX_TOPIC=... MCPX_TOKEN=... agent.mjs SERVER FILE TEXT
 */
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';

const { MCPX_URL, MCPX_TOPIC, MCPX_TOKEN } = process.env;
const [server, path, content] = process.argv.slice(2);
const socket = new WebSocket(`${MCPX_URL}/ws?topic=${MCPX_TOPIC}`,
  { headers: { Authorization: `Bearer ${MCPX_TOKEN}` } });
const wish = { method: 'tools/call', params: { name: 'write_file', arguments: { path, content } } };
let mine; /* the envelope that is answered next: our request, our proposal, what fulfils it */

function send(kind, payload) {
  mine = randomUUID();
  console.log(`agent says ${kind}`);
  socket.send(JSON.stringify({ protocol: 'mcpx/v0.1', id: mine, to: [server], kind, payload }));
}

socket.on('message', (data) => {
  const { id, kind, correlation_id: about, payload } = JSON.parse(data);
  if (kind === 'system/welcome') {
    send('mcp/request:tools/call:write_file', { jsonrpc: '2.0', id: 1, ...wish });
  } else if (about !== mine) {
    return;
  } else if (kind === 'system/error') {
    console.log(`router says ${payload.error}: ${payload.message}`);
    if (!payload.alternative) process.exit(3);
    console.log(`router suggests ${payload.alternative}`);
    send(payload.alternative, wish);
    console.log(`agent waits; its proposal is ${mine}`);
  } else if (kind.startsWith('mcp/request:')) {
    mine = id; /* somebody carries the proposal out: the response will answer that request */
  } else if (kind.startsWith('mcp/response:')) {
    console.log(`agent hears: ${payload.result?.content[0].text ?? payload.error.message}`);
    socket.close(1000);
  } else if (kind === 'mcp/reject') {
    console.log(`agent hears no: ${payload.reason}`);
    process.exit(3);
  }
});
socket.on('unexpected-response', (request, response) => {
  console.error(`the router refused: HTTP ${response.statusCode}`);
  process.exit(5);
});
