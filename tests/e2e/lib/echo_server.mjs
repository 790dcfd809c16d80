/*
 * echo_server.mjs - an MCP server of the fewest lines, on its standard streams: one tool, "echo",
 * that gives its argument back. It costs next to nothing, so what is measured through it is what
 * lies before it. With the word "rows" the tool declares what it takes and returns, and gives back
 * the rows of its arguments.
 */
import { serve } from './small_server.mjs';

const ROWS = { type: 'object', required: ['rows'], properties: { rows: { type: 'array', items: {
  type: 'object', required: ['id', 'name', 'price'], additionalProperties: false,
  properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 200 },
    price: { type: 'number', minimum: 0 } } } } } };
const IS_ROWS = process.argv[2] === 'rows';
const TOOL = IS_ROWS ? { name: 'echo', inputSchema: ROWS, outputSchema: ROWS }
  : { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };

serve('echo', {
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { text, rows } }) => (IS_ROWS
    ? { content: [], structuredContent: { rows } } : { content: [{ type: 'text', text }] }),
});
