/*
 * small_server.mjs - what the servers of tests have in common that are written by hand: JSON-RPC on
 * their standard streams, one message a line.
 */
import { createInterface } from 'node:readline';

export const put = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/**
 * Answers the methods of `answers`, functions of parameters and id that may take their time, beside
 * initialize and ping; what gives undefined is not answered, what throws is with that error. `say` is given
 * each answer and the parameters it is for, `other` each notification and response.
 */
export function serve(name, answers, { say = put, other = () => {}, capabilities = { tools: {} }, version = '1.0.0' } = {}) {
  const methods = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: { name, version } }),
    ping: () => ({}),
    ...answers,
  };
  const answer = async (id, method, params) => {
    if (!methods[method]) return { error: { code: -32601, message: 'Method not found' } };
    try {
      return { result: await methods[method](params, id) };
    } catch ({ code = -32603, message, data }) {
      return { error: { code, message, data } };
    }
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params = {}, ...rest } = JSON.parse(line);
    if (id === undefined || !method) {
      other({ id, method, params, ...rest });
      return;
    }
    answer(id, method, params).then((said) => {
      if (said.error || said.result !== undefined) say({ id, ...said }, params);
    });
  });
}
