// Joins a topic, says hello, prints what it hears, answers one request and leaves.
// npm install ws. Set MCPX_URL (ws://HOST:PORT), MCPX_TOPIC, MCPX_TOKEN.
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';

const { MCPX_URL, MCPX_TOPIC, MCPX_TOKEN } = process.env;
const ws = new WebSocket(`${MCPX_URL}/ws?topic=${encodeURIComponent(MCPX_TOPIC)}`, {
  headers: { authorization: `Bearer ${MCPX_TOKEN}` },
});
const say = (kind, payload, more) => ws.send(JSON.stringify({
  protocol: 'mcpx/v0.1', id: randomUUID(), kind, payload, ...more,
}));
let me;
ws.on('message', (text) => {
  const heard = JSON.parse(text);
  console.log(String(text));
  if (heard.kind === 'system/welcome' && !me) {
    me = heard.payload.you.id;
    say('chat', { text: 'hello' });
  }
  if (!heard.kind.startsWith('mcp/request:') || heard.to?.[0] !== me) return;
  say(`mcp/response${heard.kind.slice(11)}`, { jsonrpc: '2.0', id: heard.payload.id, result: {} },
    { to: [heard.from], correlation_id: heard.id });
  ws.close();
});
