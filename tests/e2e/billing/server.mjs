/*
 * server.mjs - an MCP server that is released: four tools that take in bills, of clouds and of what is
 * open. It takes nothing in; it says what it would. Words of its command line change it as a careless
 * release would: "more" adds a tool, "other" changes a schema.
 */
import { createInterface } from 'node:readline';

const SOURCES = ['openops', 'aws', 'azure', 'gcp'];
const careless = process.argv.slice(2);

const INPUT = {
  type: 'object',
  properties: { period: { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' }, rows: { type: 'integer', minimum: 1 } },
  required: ['period'],
  additionalProperties: careless.includes('other'),
};
const OUTPUT = {
  type: 'object',
  properties: { source: { enum: SOURCES }, period: { type: 'string' }, taken: { type: 'integer' },
    accounts: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } } },
  required: ['source', 'period', 'taken', 'accounts'],
};

const tool = (source) => ({ name: `billing.${source}.ingest`, description: `Takes in the bills of ${source}.`,
  inputSchema: INPUT, outputSchema: OUTPUT });
const tools = [...SOURCES, ...(careless.includes('more') ? ['oracle'] : [])].map(tool);

function ingest({ name, arguments: { period, rows = 1 } }) {
  const value = { source: name.split('.')[1], period, taken: rows, accounts: [{ id: 'a-1' }, { id: 'a-2' }] };
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'billing', version: '1.4.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ingest,
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method]
    ? { result: ANSWERS[method](params) } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
