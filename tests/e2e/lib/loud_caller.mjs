/*
 * loud_caller.mjs - a participant, in a thread of its own, that asks `peer` for `method` every so
 * many milliseconds, or once for 0, and does not look at what comes.
 */
import { randomUUID } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import WebSocket from 'ws';

const { url, token, peer, method, every } = workerData;
const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
let id = 0;

function call() {
  socket.send(JSON.stringify({ protocol: 'mcpx/v0.1', id: randomUUID(), to: [peer],
    kind: `mcp/request:${method}`, payload: { jsonrpc: '2.0', id: id += 1, method } }));
}

socket.once('message', () => {
  call();
  if (every) setInterval(call, every);
});
