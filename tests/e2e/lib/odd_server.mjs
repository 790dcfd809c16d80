/*
 * odd_server.mjs - a server as some are, by hand, because an SDK would not let it be so:
 *
 *     odd_server.mjs NAME SORT [FILE]
 *
 * SORT: twin (a tool and a URI that others have, too), unfit (entries that are none), ill (its lists
 * fail), well (a tool `work`), leaving (it ends when its tool is called); with a tool `mark` that says NAME
 * and the mark that it was given: broken (ends at its start while FILE is there), slow (answers late),
 * flooding (says fifty times a second that its list has changed), latin (writes Latin-1 in texts).
 */
import { existsSync } from 'node:fs';
import { serve } from './small_server.mjs';

const [name, sort, file] = process.argv.slice(2);
if (sort === 'broken' && existsSync(file)) {
  process.stderr.write(`${name}: no database\n`);
  process.exit(7);
}
const cafe = sort === 'latin' ? ' caf\u00e9' : '';
const put = (message) => process.stdout.write(
  Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, 'latin1'));
const schema = { type: 'object' };
const tools = { twin: [{ name: 'delete', inputSchema: schema }],
  unfit: [{ name: 'fit', description: null, title: 5, inputSchema: schema },
    { name: 'null', inputSchema: null }, { name: 'text', inputSchema: 'object' }, { inputSchema: schema }],
  ill: [],
  well: [{ name: 'work', inputSchema: schema }],
  leaving: [{ name: 'leave', inputSchema: schema }] }[sort]
  ?? [{ name: 'mark', description: `the mark${cafe}`, inputSchema: schema }];
const list = (entries) => () => {
  if (sort === 'ill') throw new Error(`${name} is ill`);
  return entries;
};

process.stdin.on('end', () => process.exit(0));
serve(name, {
  'tools/list': list({ tools }),
  'resources/list': list({ resources: sort === 'twin' ? [{ uri: 'file:///shared', name: 'shared' }] : [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: name }] }),
  'tools/call': ({ arguments: { mark } = {} }) => (sort === 'leaving' ? process.exit(3)
    : { content: [{ type: 'text', text: `${name}${mark ? ` ${mark}${cafe}` : ''}` }] }),
}, {
  capabilities: { tools: { listChanged: true }, resources: {} },
  say: (answer) => setTimeout(put, sort === 'slow' ? 300 : 0, answer),
  other: ({ method }) => sort === 'flooding' && method === 'notifications/initialized'
    && setInterval(() => put({ method: 'notifications/tools/list_changed' }), 20),
});
