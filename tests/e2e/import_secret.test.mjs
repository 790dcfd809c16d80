/*
 * The story: a server that was fetched from somewhere this morning runs as the same user as the
 * bridge that starts it, and looks around: /proc/PID/environ of its parents, their command lines,
 * their memory. It must not find the token it could join the topic with itself.
 */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startImport } from './lib/import.mjs';
import { Program, programBinary } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { Seat } from './lib/wire.mjs';

let router;
before(async () => { router = await Router.start(); });
after(() => router?.stop());

const SPY = [process.execPath, fileURLToPath(new URL('lib/spy_server.mjs', import.meta.url))];
const NOBODY = 65534;
/* Every token of a router in development mode begins so: it is a JWT. */
const TOKEN = /eyJ[A-Za-z0-9_-]{10,}/;

/** What the spy sees of the processes above it. */
async function look(t, { command = SPY, ...more } = {}) {
  const room = new Room(t, router);
  await startImport(t, router, room.topic, 'server', command, more);
  const seat = new Seat(await room.join('ann', ['mcp/*']), 'server');
  const { result } = JSON.parse(await seat.call(JSON.stringify(
    { jsonrpc: '2.0', id: 1, method: 'look' })));
  assert.deepEqual(result.map(({ name }) => name), ['mcpx-warden', 'mcpx-bridge']);
  return result;
}

/** Copies of bridge and spy where every user may run them: ours may lie in the home of root. */
function forEverybody(t) {
  const folder = mkdtempSync(join(tmpdir(), 'mcpx-secret-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'bin'));
  const copies = [SPY[1], programBinary('mcpx-bridge')].map((from) => {
    const to = join(folder, 'bin', basename(from));
    copyFileSync(from, to);
    return to;
  });
  chmodSync(folder, 0o755);
  return { command: [SPY[0], copies[0]], program: copies[1] };
}

test('no process above the server shows the token', async (t) => {
  for (const { name, environment, command } of await look(t)) {
    assert.ok(!TOKEN.test(environment), `the environment of ${name}`);
    assert.ok(!TOKEN.test(command), `the command line of ${name}`);
  }
});

test('a server of the same user reads neither memory nor environment of its bridge', async (t) => {
  const uid = process.getuid() === 0 ? NOBODY : undefined;
  for (const { name, environment, memory } of await look(t, { uid, ...forEverybody(t) })) {
    assert.deepEqual([name, memory, environment.length], [name, 'EACCES', 'EACCES'.length]);
  }
});

test('expose and mcpxctl show their token to nobody either', async (t) => {
  const room = new Room(t, router);
  const token = await router.token('desk', room.topic, ['mcp/*']);
  const where = ['--url', router.url, '--topic', room.topic];
  const watcher = await room.join('ann', ['chat']);
  const rows = [['mcpx-bridge', ['expose', ...where], { stdin: 'pipe' }],
    ['mcpxctl', ['watch', ...where], {}]];
  for (const [name, args, more] of rows) {
    const program = Program.start(name, args, { env: { MCPX_TOKEN: token }, ...more });
    t.after(() => program.kill('SIGKILL'));
    await watcher.until((e) => e.kind === 'system/presence' && e.payload.event === 'join'
      && e.payload.participant.id === 'desk', `${name} joins`);
    assert.ok(!TOKEN.test(readFileSync(`/proc/${program.pid}/environ`, 'utf8')), name);
    program.kill();
    await program.end();
    await watcher.until((e) => e.kind === 'system/presence' && e.payload.event === 'leave',
      `${name} leaves`);
    watcher.received.length = 0;
  }
});
