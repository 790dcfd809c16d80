/*
 * talker.mjs - an agent behind an ordinary MCP client, with the tools of a room and no other way to speak.
 * "ask" wants a file written, which it may only propose; "judge" waits to be asked, and approves what it
 * has read.
 *
 *     talker.mjs CONFIG ask|judge [FILE]
 */
import { useRoom } from '../lib/expose.mjs';
import { connect } from './session.mjs';

const [config, role, path] = process.argv.slice(2);
const { client } = await connect(config, 'files__write_file');

const use = (tool, args) => useRoom(client, tool, args);

let { after } = await use('history');

async function hears() {
  const { messages, after: place } = await use('wait', { after });
  after = place;
  for (const { from, text } of messages) console.log(`hears ${from}: ${text}`);
  return messages;
}

async function says(text, to) {
  await use('send', { text, to: [to] });
  console.log(`says: ${text}`);
}

console.log('is there');
if (role === 'judge') {
  const [{ from }] = await hears();
  await says('propose it, and I shall look', from);
  await hears();
  const [{ id, digest, kind }] = (await use('proposals')).messages;
  console.log(`reads ${kind}`);
  await use('approve', { id, digest });
  console.log('approves it');
} else {
  await says('the minutes are ready: may I write them down?', 'bob');
  await hears();
  const { id } = await use('propose', { tool: 'files__write_file',
    arguments: { path, content: 'agreed by two, seen by a third' } });
  await says(`it is proposal ${id.slice(0, 8)}`, 'bob');
  while (!(await hears()).some(({ text }) => /Successfully wrote/.test(text)));
}
await client.close();
