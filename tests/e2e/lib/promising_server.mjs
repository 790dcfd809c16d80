/*
 * promising_server.mjs - a server by hand, because an SDK would not let it be as servers are:
 *
 *     promising_server.mjs NAME SORT
 *
 * SORT: twin (a tool and a URI that others have, too), unfit (entries that are none), ill (its lists
 * fail), well (a tool `work`), leaving (it ends when its tool is called).
 */
import { createInterface } from 'node:readline';

const [name, sort] = process.argv.slice(2);
const schema = { type: 'object' };
const tools = { twin: [{ name: 'delete', inputSchema: schema }],
  unfit: [{ name: 'fit', description: null, title: 5, inputSchema: schema },
    { name: 'null', inputSchema: null }, { name: 'text', inputSchema: 'object' }, { inputSchema: schema }],
  well: [{ name: 'work', inputSchema: schema }],
  leaving: [{ name: 'leave', inputSchema: schema }] }[sort] ?? [];
const put = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-11-25', serverInfo: { name, version: '1' },
        capabilities: { tools: { listChanged: true }, resources: {} } };
    case 'tools/list': return { tools };
    case 'resources/list':
      return { resources: sort === 'twin' ? [{ uri: 'file:///shared', name: 'shared' }] : [] };
    case 'resources/read': return { contents: [{ uri: params.uri, text: name }] };
    case 'tools/call': return { content: [{ type: 'text', text: name }] };
    default: return undefined;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  if (request.id === undefined) return;
  if (sort === 'leaving' && request.method === 'tools/call') process.exit(3);
  const result = sort === 'ill' && request.method.endsWith('/list') ? undefined : answer(request);
  put({ id: request.id, ...(result ? { result } : { error: { code: -32603, message: `${name} is ill` } }) });
});
