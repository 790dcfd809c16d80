/*
 * The story: an operator sends what programs say to a disk that is full, and reloads a router that
 * has not begun.
 */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { Program } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { eventually, Router, sha256 } from './lib/router.mjs';

const router = await Router.startFor({ after });

test('what cannot be written is a failure, and its reason is said', async (t) => {
  const room = new Room(t, router);
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const rows = [['mcpx-router', '--help'], ['mcpx-router', '--version'], ['mcpx-router', '--dev', '--check'],
    ['mcpxctl', '--help'], ['mcpx-bridge', '--version'],
    ['mcpxctl', 'watch', '--url', router.url, '--topic', room.topic, '--as', 'looker']];
  for (const [program, ...words] of rows) {
    const writer = Program.start(program, words, { stdout: full });
    if (words[0] === 'watch') {
      await writer.until(/joined/);
      (await room.join('speaker', ['chat'])).send('chat', { text: 'nobody can read this' });
    }
    assert.equal((await writer.end()).code, 1, `${words}: ${writer.log}`);
    assert.match(writer.log, /No space left on device/, `${words}`);
  }
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
