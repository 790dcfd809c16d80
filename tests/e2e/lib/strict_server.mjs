/*
 * strict_server.mjs - a server that is as strict as those made with the Rust SDK: what comes
 * before `initialize` ends it. With "refuse" as its argument it is answered, and ends nothing, but
 * `initialize` is refused from then on. "starts" tells the first messages of all its processes,
 * as they are remembered in the file that STRICT_LOG names.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const answer = (id, more) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...more })}\n`);
const refusal = (code, message) => ({ error: { code, message } });
let first;
let ready = false;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (first === undefined) {
    first = method;
    appendFileSync(process.env.STRICT_LOG, `${method}\n`);
  }
  if (first !== 'initialize') {
    if (process.argv[2] !== 'refuse') {
      process.stderr.write(`expect initialized request, but received: ${method}\n`);
      process.exit(1);
    }
    answer(id, refusal(-32600, 'Server not initialized'));
  } else if (method === 'initialize') {
    answer(id, { result: { protocolVersion: '2025-06-18', capabilities: {},
      serverInfo: { name: 'strict', version: '1' } } });
  } else if (method === 'notifications/initialized') {
    ready = true;
  } else if (method === 'starts' && ready) {
    answer(id, { result: readFileSync(process.env.STRICT_LOG, 'utf8').trim().split('\n') });
  } else if (method === 'end') {
    process.exit(3);
  } else if (id !== undefined) {
    answer(id, refusal(-32601, 'Method not found'));
  }
});
