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
import { createInterface } from 'node:readline';

const [name, sort, file] = process.argv.slice(2);
if (sort === 'broken' && existsSync(file)) {
  process.stderr.write(`${name}: no database\n`);
  process.exit(7);
}
const cafe = sort === 'latin' ? ' caf\u00e9' : '';
const put = (message) => process.stdout.write(
  Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, 'latin1'));

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-11-25', serverInfo: { name, version: '1' },
        capabilities: { tools: { listChanged: true } } };
    case 'tools/list':
      return { tools: [{ name: 'mark', description: `the mark${cafe}`, inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: `${name} ${params.arguments.mark}${cafe}` }] };
    default: return undefined;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  if (request.id === undefined) {
    if (sort === 'flooding' && request.method === 'notifications/initialized') {
      setInterval(() => put({ method: 'notifications/tools/list_changed' }), 20);
    }
    return;
  }
  const result = answer(request);
  setTimeout(put, sort === 'slow' ? 300 : 0,
    { id: request.id, ...(result ? { result } : { error: { code: -32601, message: 'no such method' } }) });
}).on('close', () => process.exit(0));
