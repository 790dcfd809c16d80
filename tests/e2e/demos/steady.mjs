/*
 * steady.mjs - an ordinary MCP client that makes twenty calls a second, come what may, and counts
 * the answers that are its own.
 *
 *     steady.mjs CONFIG CALLS
 */
import { connect } from './session.mjs';

const [config, calls] = process.argv.slice(2);
const { client } = await connect(config, 'everything__echo');
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
