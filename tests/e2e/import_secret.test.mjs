/*
 * The story: a server that was fetched from somewhere this morning runs as the same user as the
 * bridge that starts it, and looks around: /proc/PID/environ of its parents, their command lines,
 * their memory. It must not find the token it could join the topic with itself, nor what the shell
 * that started the bridge had for the router: the key that makes tokens.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { importRoom } from './lib/import.mjs';
import { forEverybody, Program, programBinary, SOMEBODY } from './lib/program.mjs';
import { ownServer, Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const SPY = ownServer('spy_server');
/* What a service may have in its environment, for the router or for others. */
const SECRETS = { MCPX_TOKEN: 'a token in the environment', MCPX_AUTH_JWT_SECRET: 'a key that makes tokens',
  MCPX_OTHER_TOKEN: 'a token of another program' };
/* Every token of a router in development mode begins so: it is a JWT. */
const TOKEN = /eyJ[A-Za-z0-9_-]{10,}/;

/** What the spy says when it is asked for `method`. */
async function ask(t, method, { command = SPY, ...more } = {}) {
  const { seats: [ann] } = await importRoom(t, router, command, ['ann'], more);
  return (await ann.ask(rpc(1, method))).result;
}

/** What the spy sees of the processes above it. */
async function look(t, more) {
  const result = await ask(t, 'look', more);
  assert.deepEqual(result.map(({ name }) => name), ['mcpx-warden', 'mcpx-bridge']);
  return result;
}

test('a server inherits no token and no key', async (t) => {
  const names = (await ask(t, 'inherited', { env: { ...SECRETS, MCPX_TOPIC: 'lobby' } })).map(([name]) => name);
  assert.ok(names.includes('MCPX_TOPIC'), 'the rest of the environment is there');
  for (const name of Object.keys(SECRETS)) assert.ok(!names.includes(name), name);
});

test('the agent behind a guard inherits its own token, and no other secret', async (t) => {
  const agent = [process.execPath, '-e', 'console.log(JSON.stringify(process.env))'];
  const program = Program.start('mcpx-bridge', ['guard', '--url', router.url, '--', ...agent],
    { env: SECRETS, stdout: 'kept' });
  t.after(() => program.kill('SIGKILL'));
  assert.equal((await program.end()).code, 0, program.log);
  const has = JSON.parse(program.output);
  assert.deepEqual(Object.keys(SECRETS).filter((name) => name in has), ['MCPX_TOKEN']);
});

test('no process above the server shows the token', async (t) => {
  for (const { name, environment, command } of await look(t, { env: SECRETS })) {
    for (const text of [TOKEN, ...Object.values(SECRETS)].map((secret) => new RegExp(secret))) {
      assert.doesNotMatch(environment, text, `the environment of ${name}`);
      assert.doesNotMatch(command, text, `the command line of ${name}`);
    }
  }
});

test('a server of the same user reads neither memory nor environment of its bridge', async (t) => {
  const [spy, program] = forEverybody(t, SPY[1], programBinary('mcpx-bridge'), ownServer('small_server')[1]);
  const command = [SPY[0], spy];
  for (const { name, environment, memory } of await look(t, { uid: SOMEBODY, command, program })) {
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
