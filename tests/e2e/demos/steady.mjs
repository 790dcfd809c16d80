/*
 * steady.mjs - an ordinary MCP client that makes twenty calls a second, come what may, and counts
 * the answers that are its own.
 *
 *     steady.mjs CONFIG CALLS
 */
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [config, calls] = process.argv.slice(2);
const [server] = Object.values(JSON.parse(readFileSync(config, 'utf8')).mcpServers);
const client = new Client({ name: 'steady', version: '1.0.0' }, { capabilities: {} });
await client.connect(new StdioClientTransport({ ...server, stderr: 'inherit' }));
while (!(await client.listTools()).tools.some(({ name }) => name === 'everything__echo'));
let right = 0;
async function call(number) {
  const { content } = await client.callTool(
    { name: 'everything__echo', arguments: { message: `call ${number}` } });
  if (content[0].text === `Echo: call ${number}`) right += 1;
  if (number % 20 === 0) console.log(`${number} of ${calls}`);
}
const all = [];
for (let number = 1; number <= Number(calls); number++) {
  all.push(call(number).catch((error) => console.log(`call ${number}: ${error.message}`)));
  await new Promise((done) => { setTimeout(done, 50); });
}
await Promise.all(all);
console.log(`${all.length} calls, ${right} right answers`);
await client.close();
