/*
 * relay.mjs - what stands between programs and a router: it passes bytes on both ways, until it is cut; and
 * bytes that are said to a port by hand.
 */
import { connect, createServer } from 'node:net';
import { inTime } from './router.mjs';

/**
 * Passes on to `port`; `take(socket)` says that it has dealt with a connection itself, `server` listens for
 * others than plain ones. Gives its own `port`, and `cut()`, which ends all connections. Ends with the test.
 */
export async function relayTo(t, port, { take = () => false, server = createServer() } = {}) {
  const open = new Set();
  server.on(server.addContext ? 'secureConnection' : 'connection', (near) => {
    near.on('error', () => {});
    if (take(near)) return;
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [[near, far], [far, near]]) {
      from.on('data', (bytes) => to.write(bytes)).on('close', () => to.destroy()).on('error', () => {});
      open.add(from);
    }
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const relay = { port: server.address().port, cut: () => { open.forEach((socket) => socket.destroy()); open.clear(); } };
  t.after(() => { relay.cut(); server.close(); });
  return relay;
}

/** What is answered to bytes that are sent piece by piece, until the connection ends. */
export function say(port, ...pieces) {
  return inTime(new Promise((done, fail) => {
    const parts = [];
    const socket = connect(port, '127.0.0.1', () => pieces.forEach((piece) => socket.write(piece)));
    socket.setNoDelay(true).on('data', (part) => parts.push(part)).on('error', fail);
    socket.on('close', () => done(Buffer.concat(parts).toString('latin1')));
  }), 'the connection did not end');
}
