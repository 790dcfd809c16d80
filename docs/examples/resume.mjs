// Prints what is said in a topic, all of it: after a break it goes on where it was.
// npm install ws. Set MCPX_URL (ws://HOST:PORT), MCPX_TOPIC, MCPX_TOKEN.
import WebSocket from 'ws';

const { MCPX_URL, MCPX_TOPIC, MCPX_TOKEN } = process.env;
let place = {}; // the router's latest epoch and serial, and the id of the last envelope since

function remember({ from, id, payload }) {
  if (from !== 'system:gateway') place.after = id;
  else if (payload.topic) place = { epoch: payload.topic.epoch, serial: payload.topic.serial };
}

function join() {
  const query = new URLSearchParams({ topic: MCPX_TOPIC, ...place });
  const ws = new WebSocket(`${MCPX_URL}/ws?${query}`, {
    headers: { authorization: `Bearer ${MCPX_TOKEN}` },
  });
  ws.on('message', (text) => {
    console.log(String(text));
    remember(JSON.parse(text));
  });
  ws.on('error', (error) => console.error(error.message));
  ws.on('close', (code, reason) => {
    const told = /; retry_after_ms=(\d+)$/.exec(String(reason)); // the router goes away
    setTimeout(join, Math.max(1000, told ? Number(told[1]) : 0));
  });
}

join();
