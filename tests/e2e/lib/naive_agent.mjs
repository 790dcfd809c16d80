/*
 * naive_agent.mjs - a program with the habits of the first agents written for v0.1: it fetches its
 * token from the address it connects to, answers whatever comes under "mcp/" with a method and an
 * id, and takes the first message with the right correlation_id for the answer, whoever sent
 * it. It looks at neither `to` nor `from` nor the kind. It exists to be abused.
 *
 *     MCPX_GATEWAY=ws://HOST:PORT naive_agent.mjs ID TOPIC
 *
 * One JSON object per line on standard output: {"ready": ID}, {"did": NAME, "kind", "from"},
 * {"got": PAYLOAD, "for": NUMBER}. Standard input: "ask NUMBER PEER TOOL" calls a tool of a peer;
 * its end ends the program.
 */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';

const [id, topic] = process.argv.slice(2);
const gateway = process.env.MCPX_GATEWAY;
const waiting = new Map(); /* envelope id -> number of the question */
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

const reply = await fetch(`${gateway.replace('ws://', 'http://')}/v0.1/auth/token`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ participantId: id, topic }),
});
const { token } = await reply.json();
const socket = new WebSocket(`${gateway}/ws?topic=${encodeURIComponent(topic)}`,
  { headers: { Authorization: `Bearer ${token}` } });

function put(kind, to, payload, cause) {
  const envelope = { protocol: 'mcpx/v0.1', id: randomUUID(), ts: new Date().toISOString(),
    from: id, to: [to], kind, ...(cause && { correlation_id: cause }), payload };
  socket.send(JSON.stringify(envelope));
  return envelope.id;
}

function execute({ id: cause, from, kind, payload }) {
  const name = payload.params?.name;
  say({ did: name, kind, from });
  put(`mcp/response:${payload.method}`, from,
    { jsonrpc: '2.0', id: payload.id, result: { content: [{ type: 'text', text: `${id} did ${name}` }] } },
    cause);
}

socket.on('message', (data) => {
  const envelope = JSON.parse(data.toString());
  const { kind, correlation_id: cause, payload } = envelope;
  if (kind === 'system/welcome') {
    say({ ready: payload.you.id });
  } else if (kind.startsWith('mcp/') && waiting.has(cause)) {
    say({ got: payload, for: waiting.get(cause) });
    waiting.delete(cause);
  } else if (kind.startsWith('mcp/') && payload.method && payload.id !== undefined) {
    execute(envelope);
  }
});
socket.on('close', () => process.exit(3));

createInterface({ input: process.stdin }).on('line', (line) => {
  const [, number, peer, name] = line.split(' ');
  const payload = { jsonrpc: '2.0', id: Number(number), method: 'tools/call',
    params: { name, arguments: {} } };
  waiting.set(put(`mcp/request:tools/call:${name}`, peer, payload), Number(number));
}).on('close', () => process.exit(0));
