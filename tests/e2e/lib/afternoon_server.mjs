/*
 * afternoon_server.mjs - a server as some are, by hand, because an SDK would not let it be so:
 *
 *     afternoon_server.mjs NAME SORT [FILE]
 *
 * SORT: broken (ends at its start while FILE is there), slow (answers late), flooding (says fifty
 * times a second that its list has changed), latin (writes Latin-1 in texts). Its tool `mark` says
 * NAME and the mark that it was given.
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

process.stdin.on('end', () => process.exit(0));
serve(name, {
  'tools/list': () => ({ tools: [{ name: 'mark', description: `the mark${cafe}`, inputSchema: { type: 'object' } }] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: `${name} ${params.arguments.mark}${cafe}` }] }),
}, {
  capabilities: { tools: { listChanged: true } },
  say: (answer) => setTimeout(put, sort === 'slow' ? 300 : 0, answer),
  other: ({ method }) => sort === 'flooding' && method === 'notifications/initialized'
    && setInterval(() => put({ method: 'notifications/tools/list_changed' }), 20),
});
