/*
 * The story: another program of the router's user looks around, or the router crashes. What the
 * router has in its memory and environment, the key that makes tokens for one, is neither read nor
 * written to a core file. Whoever debugs it says --dumpable.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { forEverybody, Program, programBinary, SOMEBODY } from './lib/program.mjs';

const KEY = 'a key that makes tokens, and is in the environment';

/** A router that says where it listens, as a user that may not read everything. */
async function start(t, ...args) {
  const [program] = forEverybody(t, programBinary('mcpx-router'));
  const router = Program.start('mcpx-router', ['--dev', '--listen', '127.0.0.1:0', ...args],
    { env: { MCPX_AUTH_JWT_SECRET: KEY }, stdout: 'kept', uid: SOMEBODY, program });
  t.after(() => router.stop());
  await router.says(/^listening .*\n/);
  return router;
}

/** What another process of the same user is shown of a file below /proc/PID. */
function shown({ pid }, name) {
  const { stdout, status } = spawnSync('cat', [`/proc/${pid}/${name}`], { uid: SOMEBODY, cwd: '/', encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

/** The limit of the size of a core file that the process may write. */
const coreLimit = ({ pid }) => /^Max core file size +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))[1];

test('the router shows neither memory nor environment, and leaves no core file', async (t) => {
  const router = await start(t);
  for (const name of ['environ', 'auxv', 'maps', 'io']) assert.equal(shown(router, name), undefined, name);
  assert.match(shown(router, 'status'), /^Name:\tmcpx-router$/m, 'it can be seen that it runs');
  assert.equal(coreLimit(router), '0');
});

test('--dumpable is for who debugs it', async (t) => {
  const router = await start(t, '--dumpable');
  assert.ok(shown(router, 'environ').includes(KEY));
  assert.equal(coreLimit(router), coreLimit({ pid: 'self' }));
});
