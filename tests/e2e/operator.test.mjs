/*
 * The story: an operator asks why something would be refused before anybody tries it, and stops
 * the router while people are talking. Protocol: sections 6 (decision, 1001) and 8 (check).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { Program, programBinary } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { eventually, Router, sha256 } from './lib/router.mjs';

const router = await Router.startFor({ after });

test('a decision can be asked for, with its reasons, before anything is sent', async (t) => {
  const room = new Room(t, router);
  const token = await router.token('operator', room.topic, ['admin/*']);
  const check = async (capabilities, kind) => {
    const { status, json, text } = await router.request('POST', '/v0.1/check',
      { token, body: { capabilities, kind } });
    assert.equal(status, 200, text);
    return json;
  };
  const no = await check(['mcp/request:tools/call:read_*', 'mcp/proposal:*'],
    'mcp/request:tools/call:write_file');
  assert.equal(no.reason, 'no_matching_grant');
  assert.equal(no.nearest, 'mcp/request:tools/call:read_*');
  assert.equal(no.would_allow, 'mcp/request:tools/call:write_file');
  assert.equal(no.alternative, 'mcp/proposal:tools/call:write_file');
  const yes = await check(['mcp/request:tools/call:read_*'], 'mcp/request:tools/call:read_file');
  assert.equal('would_allow' in yes && yes.would_allow !== null, false);
});

test('what cannot be written is a failure, and its reason is said', async (t) => {
  const room = new Room(t, router);
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const rows = [['mcpx-router', '--help'], ['mcpx-router', '--version'], ['mcpx-router', '--dev', '--check'],
    ['mcpxctl', '--help'], ['mcpx-bridge', '--version'],
    ['mcpxctl', 'watch', '--url', router.url, '--topic', room.topic, '--as', 'looker']];
  for (const [program, ...words] of rows) {
    const child = spawn(programBinary(program), words, { stdio: ['ignore', full, 'pipe'] });
    const ended = once(child, 'close');
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => { log += text; });
    if (words[0] === 'watch') {
      await eventually(() => log.includes('joined'), 'it never joins');
      (await room.join('speaker', ['chat'])).send('chat', { text: 'nobody can read this' });
    }
    const [code] = await ended;
    assert.equal(code, 1, `${words}: ${log}`);
    assert.match(log, /No space left on device/, `${words}`);
  }
});

test('a router that is stopped says goodbye with 1001 and ends well', async (t) => {
  const brief = await Router.start();
  const room = new Room(t, brief);
  const one = await room.join('one', ['chat']);
  const two = await room.join('two', ['chat'], { query: { routing: 'directed' } });
  const id = one.send('chat', { text: 'last words' });
  await Promise.all([one, two].map((each) => each.untilId(id)));
  await brief.stop();
  assert.equal((await one.untilClosed()).code, 1001);
  assert.equal((await two.untilClosed()).code, 1001);
});

/* logrotate or certbot come while thousands of participants are still being read. */
test('a reload that is asked for before the router has begun is done when it has', async (t) => {
  const folder = folderFor(t);
  const person = (i) => [`p${i}`, { token_sha256: sha256(`${i}`), topics: ['*'],
    grants: ['chat', `mcp/request:tools/call:a${i}_*`] }];
  writeFileSync(join(folder, 'router.json'), JSON.stringify({ log: { level: 'info' },
    participants: Object.fromEntries(Array.from({ length: 20000 }, (_, i) => person(i))) }));
  const early = Program.start('mcpx-router', ['--config', join(folder, 'router.json'), '--listen', '127.0.0.1:0']);
  t.after(() => early.stop());
  const blocks = () => /^SigBlk:.*1$/m.test(readFileSync(`/proc/${early.pid}/status`, 'utf8'));
  await eventually(() => blocks() || early.log.includes('event=ready'), 'it never blocks HUP');
  assert.ok(!early.log.includes('event=ready'), 'before the signal could be sent');
  early.kill('SIGHUP');
  await early.until(/event=reloaded/);
});
