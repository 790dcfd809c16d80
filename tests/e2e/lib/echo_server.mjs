/*
 * echo_server.mjs - an MCP server of the fewest lines, on its standard streams: one tool, "echo",
 * that gives its argument back. It costs next to nothing, so what is measured through it is what
 * lies before it.
 */
import { createInterface } from 'node:readline';

const TOOL = { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1.0.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method]
    ? { result: ANSWERS[method](params) } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
