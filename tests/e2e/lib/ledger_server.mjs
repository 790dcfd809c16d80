/*
 * ledger_server.mjs - an MCP server with one tool, "note", which writes its argument down in a
 * file before it answers. So it can be counted afterwards what was carried out, and how often,
 * whatever became of the answer.
 *
 *     node ledger_server.mjs FILE
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const FILE = process.argv[2];
const TOOL = { name: 'note', inputSchema: { type: 'object',
  properties: { key: { type: 'string' }, ms: { type: 'number' } }, required: ['key'] } };

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'ledger', version: '1.0.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { key } }) => {
    appendFileSync(FILE, `${key}\n`);
    return { content: [{ type: 'text', text: key }] };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method]
    ? { result: ANSWERS[method](params) } : { error: { code: -32601, message: 'no such method' } };
  setTimeout(() => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`),
    params?.arguments?.ms ?? 0);
});
