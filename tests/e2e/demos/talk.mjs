/*
 * talk.mjs - demo 7: two ordinary MCP clients talk by the room's tools; one proposes, one approves.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMOS } from '../lib/stage.mjs';

export const title = 'talk: two ordinary clients agree on a call, and a person watches';

const LOOKS = ['chat', 'mcp/request:initialize', 'mcp/request:*/list', 'mcp/request:notifications/*'];

export async function play(stage) {
  const file = join(stage.folder, 'files/minutes.txt');
  await stage.step('A room with a file server, a person who watches, and two clients with room tools');
  await stage.router();
  await stage.run('mkdir files');
  await stage.import('files', 'mcp-server-filesystem files');
  const watch = await stage.start('watch', 'mcpxctl watch --as person', { ready: /joined demo as person/ });
  await stage.token('ann', [...LOOKS, 'mcp/proposal:*', 'mcp/withdraw']);
  await stage.token('bob', [...LOOKS, 'mcp/request:tools/call:*', 'mcp/reject']);
  stage.client('ann.json', 'ann', ['--room', 'talk']);
  stage.client('bob.json', 'bob', ['--room', 'decide']);

  await stage.step('They talk: ann may only propose, bob may decide');
  const talker = join(DEMOS, 'talker.mjs');
  const bob = await stage.start('bob', `node ${talker} bob.json judge`, { ready: /is there/ });
  const ann = await stage.start('ann', `node ${talker} ann.json ask ${file}`);
  await Promise.all([ann.end(), bob.end()]);
  stage.show('ann');
  stage.show('bob');
  stage.check(bob.lines.some((line) => /hears ann: the minutes are ready/.test(line)), 'bob has heard ann');
  stage.check(bob.lines.includes('reads mcp/proposal:tools/call:write_file'), 'has read what she proposes, and approved that');
  stage.check(readFileSync(file, 'utf8') === 'agreed by two, seen by a third', 'it is written');
  stage.check(ann.lines.some((line) => /Successfully wrote/.test(line)), 'and ann has the result as a message');

  await stage.step('The person has seen each step');
  await watch.until(/files -> .*mcp\/response:tools\/call:write_file/);
  stage.show('watch', watch.fresh().filter((line) => /chat|proposal|tools\/call/.test(line)));
  for (const [step, what] of [[/ann -> bob +chat/, 'what they said to each other'],
    [/ann -> files +mcp\/proposal:tools\/call:write_file/, 'what ann proposed'],
    [/bob -> files +mcp\/request:tools\/call:write_file/, 'and that it was bob who had it done']]) {
    stage.check(watch.lines.some((line) => step.test(line)), what);
  }
}
