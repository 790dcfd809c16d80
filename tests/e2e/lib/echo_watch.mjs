/*
 * echo_watch.mjs - a process that sends a message to itself every ten milliseconds, and tells how
 * long the slowest took to come back: echo_watch.mjs URL TOKEN. "begin" and "end" come as messages
 * of the process that has started it.
 */
import WebSocket from 'ws';

const [url, token] = process.argv.slice(2);
const sent = new Map();
let worst = 0, echoes = 0, counts = false;
const socket = new WebSocket(`${url}?topic=watched`, { headers: { authorization: `Bearer ${token}` } });

socket.on('message', (data) => {
  const { id } = JSON.parse(data.toString());
  if (!sent.has(id)) return;
  const took = performance.now() - sent.get(id);
  sent.delete(id);
  if (!counts) return;
  echoes += 1;
  worst = Math.max(worst, took);
});

let number = 0;
const timer = setInterval(() => {
  if (socket.readyState !== WebSocket.OPEN) return;
  const id = `e${number += 1}`;
  sent.set(id, performance.now());
  socket.send(JSON.stringify({ protocol: 'mcpx/v0.1', id, kind: 'chat', payload: {} }));
}, 10);

process.on('message', (what) => {
  if (what === 'begin') counts = true;
  if (what !== 'end') return;
  clearInterval(timer);
  process.send({ worst, echoes }, () => { socket.terminate(); process.disconnect(); });
});
