/*
 * patience.mjs - demo 3: a client that was never changed needs a person's consent, does not know
 * it, and waits twice as long as it ever would.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMOS } from '../lib/stage.mjs';

export const title = 'patience: an unmodified client waits for a person longer than it ever would';

export async function play(stage) {
  const file = join(stage.folder, 'files/note.txt');
  await stage.step('A room with a file server, and a client that may look but not write');
  await stage.router();
  await stage.run('mkdir files');
  await stage.import('files', 'mcp-server-filesystem files');
  await stage.token('desk', ['mcp/request:initialize', 'mcp/request:*/list',
    'mcp/request:notifications/*', 'mcp/request:tools/call:read_*', 'mcp/proposal:*', 'mcp/withdraw']);
  stage.client('client.json', 'desk', ['--heartbeat', '1']);

  await stage.step('It calls write_file, as it would anywhere');
  const args = JSON.stringify({ path: file, content: 'worth the wait' });
  const client = await stage.start('client',
    `node ${join(DEMOS, 'client.mjs')} client.json files__write_file '${args}'`);
  await client.until(/waiting for approval/);
  stage.show('client');
  stage.check(!existsSync(file), 'nothing is written; its call has become a proposal');

  await stage.step('The person takes ten seconds');
  const { out: open } = await stage.run('sleep 10; mcpxctl proposals --json --as human', { lines: 1 });
  stage.check(!client.ended, 'the client, which gives up after eight seconds without a word, still waits');
  const { id, digest } = JSON.parse(open.split('\n')[0]);
  await stage.run(`mcpxctl approve --as human --yes ${id.slice(0, 8)}@${digest}`);
  const [, seconds] = await client.until(/after ([0-9.]+) s: Successfully wrote/);
  await client.end();
  stage.show('client');
  stage.check(Number(seconds) >= 10, `the answer came after ${seconds} s`);
  stage.check(client.ended.code === 0 && readFileSync(file, 'utf8') === 'worth the wait',
    'the client never knew');

  await stage.step('A person may also say no, and a model can read why');
  const again = await stage.start('client',
    `node ${join(DEMOS, 'client.mjs')} client.json files__write_file '${args}'`);
  await again.until(/waiting for approval/);
  const next = await stage.run('mcpxctl proposals --json --as human', { lines: 1 });
  const other = JSON.parse(next.out).id.slice(0, 8);
  await stage.run(`mcpxctl reject --as human --reason "once is enough" ${other}`);
  await again.until(/error: .*once is enough/);
  await again.end();
  stage.show('client');
  stage.check(again.ended.code === 0, 'as the result of its call, with the reason');
}
