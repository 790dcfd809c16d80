/*
 * promising_server.mjs - a server by hand, because an SDK would not let it be as servers are:
 *
 *     promising_server.mjs NAME SORT
 *
 * SORT: twin (a tool and a URI that others have, too), unfit (entries that are none), ill (its lists
 * fail), well (a tool `work`), leaving (it ends when its tool is called).
 */
import { serve } from './small_server.mjs';

const [name, sort] = process.argv.slice(2);
const schema = { type: 'object' };
const tools = { twin: [{ name: 'delete', inputSchema: schema }],
  unfit: [{ name: 'fit', description: null, title: 5, inputSchema: schema },
    { name: 'null', inputSchema: null }, { name: 'text', inputSchema: 'object' }, { inputSchema: schema }],
  well: [{ name: 'work', inputSchema: schema }],
  leaving: [{ name: 'leave', inputSchema: schema }] }[sort] ?? [];
const list = (entries) => () => {
  if (sort === 'ill') throw new Error(`${name} is ill`);
  return entries;
};

serve(name, {
  'tools/list': list({ tools }),
  'resources/list': list({ resources: sort === 'twin' ? [{ uri: 'file:///shared', name: 'shared' }] : [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: name }] }),
  'tools/call': () => (sort === 'leaving' ? process.exit(3) : { content: [{ type: 'text', text: name }] }),
}, { capabilities: { tools: { listChanged: true }, resources: {} } });
