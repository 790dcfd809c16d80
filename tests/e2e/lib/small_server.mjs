/*
 * small_server.mjs - what the servers of tests have in common that are written by hand: JSON-RPC on
 * their standard streams, one message a line.
 */
import { createInterface } from 'node:readline';

export const put = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/**
 * Answers the methods of `answers`, functions of the parameters, beside initialize and ping. `say` is
 * given each answer and the parameters it is for.
 */
export function serve(name, answers, say = put) {
  const methods = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
      serverInfo: { name, version: '1.0.0' } }),
    ping: () => ({}),
    ...answers,
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    say({ id, ...(methods[method] ? { result: methods[method](params) }
      : { error: { code: -32601, message: 'no such method' } }) }, params);
  });
}
