/*
 * loud_server.mjs - a server of which too much comes: "large" is answered with 7 MB, "chatter" with
 * notifications without end. "small" is answered as others do.
 */
import { createInterface } from 'node:readline';

const LARGE = JSON.stringify({ text: 'x'.repeat(7_000_000) });
const CHATTER = Array.from({ length: 200 }, (_, n) =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { n } })}\n`).join('');

const answer = (id, result) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);
const chatter = () => process.stdout.write(CHATTER, () => setImmediate(chatter));

const METHODS = {
  initialize: (id) => answer(id, JSON.stringify({ protocolVersion: '2025-11-25', capabilities: {},
    serverInfo: { name: 'loud', version: '1' } })),
  small: (id) => answer(id, '{}'),
  large: (id) => answer(id, LARGE),
  chatter: (id) => { answer(id, '{}'); chatter(); },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  METHODS[method]?.(id);
});
