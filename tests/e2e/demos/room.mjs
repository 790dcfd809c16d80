/* room.mjs - demo 1: two servers from npm at one table, and an MCP client that sees them as one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEADLINE_MS } from '../lib/router.mjs';
import { dim } from '../lib/stage.mjs';

export const title = 'one room: two servers from npm, an ordinary client, and somebody who watches';

export async function play(stage) {
  await stage.step('A router, and two servers that know nothing of it');
  await stage.router();
  await stage.run('mkdir files && echo "hello from a file" > files/hello.txt');
  await stage.import('everything', 'mcp-server-everything stdio');
  await stage.import('files', 'mcp-server-filesystem files');
  await stage.token('observer', []);
  const watch = await stage.start('watch', 'mcpxctl watch --token-file observer.token',
    { ready: /joined demo as observer/ });
  const { out: who } = await stage.run('mcpxctl who --as somebody');
  stage.check(/^everything/m.test(who) && /^files/m.test(who), 'both have a seat');

  await stage.step('The Inspector, as it comes from npm, lists their tools through one bridge');
  const inspector = await inspectorOf(stage);
  const listed = await untilSaid(stage, `${inspector} --method tools/list`,
    (out) => out.includes('everything__get-sum') && out.includes('files__read_text_file'), { lines: 6 });
  const names = JSON.parse(listed).tools.map(({ name }) => name);
  stage.say(`${names.length} tools: ${dim(names.slice(0, 6).join(', '))} ...`);
  stage.check(names.includes('everything__get-sum') && names.includes('files__read_text_file'),
    'the tools of both, under the names of their owners');

  await stage.step('It calls one of each');
  const sum = await untilSaid(stage, `${inspector} --method tools/call `
    + '--tool-name everything__get-sum --tool-arg a=2 b=40', answered);
  stage.check(/The sum of 2 and 40 is 42/.test(sum), 'everything has added');
  const read = await untilSaid(stage, `${inspector} --method tools/call `
    + `--tool-name files__read_text_file --tool-arg path=${join(stage.folder, 'files/hello.txt')}`, answered);
  stage.check(JSON.parse(read).content[0].text
    === readFileSync(join(stage.folder, 'files/hello.txt'), 'utf8'), 'files has read, byte for byte');

  await stage.step('Whoever watches has seen it all');
  await watch.until(/files -> desk +mcp\/response:tools\/call:read_text_file/);
  stage.show('watch', watch.fresh().filter((line) => /tools\/(call|list)/.test(line)));
  stage.check(watch.lines.some((line) => /mcp\/response:tools\/call:get-sum/.test(line)),
    'calls and answers, with the tools they are about');
  const { err } = await stage.run('mcpxctl say --token-file observer.token "I saw that"',
    { code: 3 });
  stage.check(/refused/.test(err), 'and may say nothing, because it was granted nothing');

  await stage.step('The same from a terminal');
  const { out } = await stage.run(
    'mcpxctl call --as somebody --to everything echo \'{"message": "hello, room"}\'');
  stage.check(out === 'Echo: hello, room\n', 'no client needed');
}

const answered = (out) => out.includes('"content"') && !out.includes('"isError": true');

/*
 * Runs a command until its output holds what is wanted. Each begins with a bridge that waits three
 * seconds for the servers of the topic; a machine that is very busy may take longer.
 */
async function untilSaid(stage, command, holds, { lines } = {}) {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const { out, err } = await stage.run(command, { lines, code: null });
    if (holds(out)) return out;
    if (Date.now() > end) throw new Error(`${command}: ${out}${err}`);
  }
}

/** Writes what MCP clients are configured with; returns the Inspector's command line. */
async function inspectorOf(stage) {
  await stage.token('desk', ['mcp/request:*', 'mcp/response:*']);
  stage.client('room.json', 'desk');
  return 'mcp-inspector-cli --cli --config room.json --server room';
}
