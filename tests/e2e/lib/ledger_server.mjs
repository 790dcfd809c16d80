/*
 * ledger_server.mjs - an MCP server with one tool, "note", which writes its argument down in a
 * file before it answers. So it can be counted afterwards what was carried out, and how often,
 * whatever became of the answer.
 *
 *     node ledger_server.mjs FILE
 */
import { appendFileSync } from 'node:fs';
import { put, serve } from './small_server.mjs';

const FILE = process.argv[2];
const TOOL = { name: 'note', inputSchema: { type: 'object',
  properties: { key: { type: 'string' }, ms: { type: 'number' } }, required: ['key'] } };

serve('ledger', {
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { key } }) => {
    appendFileSync(FILE, `${key}\n`);
    return { content: [{ type: 'text', text: key }] };
  },
}, { say: (answer, params) => setTimeout(put, params.arguments?.ms ?? 0, answer) });
