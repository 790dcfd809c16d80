/*
 * The story: a host starts the same entry in every window, with the same token. Each window has the
 * room; who comes when all places are taken is told so, and nobody is shown an empty list for that.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPOSE_GRANTS, exposePipe, untilTools } from './lib/expose.mjs';
import { IMPORT_GRANTS, readyImport } from './lib/import.mjs';
import { Program, programBinary } from './lib/program.mjs';
import { ownServer } from './lib/room.mjs';
import { people, Router, tokenOf } from './lib/router.mjs';
import { callOf, Pipe, rpc } from './lib/wire.mjs';

const ECHO = ownServer('echo_server');
const list = rpc('list', 'tools/list');
const hello = rpc('hello', 'initialize',
  { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'w', version: '1' } });

/** A router with a server in its room. */
async function room(t) {
  const router = await Router.startFor(t, { config: { participants: people(
    { files: IMPORT_GRANTS, desk: EXPOSE_GRANTS, eye: ['chat'] }) } });
  await readyImport(t, router, 'room', 'files', ECHO, { token: tokenOf('files') });
  return router;
}

test('eight windows share a token; the ninth hears why there is no place', async (t) => {
  const router = await room(t);
  const windows = [];
  for (let i = 0; i < 8; i += 1) {
    windows.push(await exposePipe(t, router, 'room', 'desk', { token: tokenOf('desk') }));
  }
  for (const [i, pipe] of windows.entries()) {
    await untilTools(pipe, 'files__echo');
    const { result } = await pipe.ask(callOf(1, 'files__echo', { text: `${i}` }));
    assert.equal(result.content[0].text, `${i}`);
  }
  const ninth = await exposePipe(t, router, 'room', 'desk', { token: tokenOf('desk') });
  const { error: greeting } = await ninth.ask(hello);
  assert.match(greeting.message, /the topic cannot be reached: .*instance/);
  const { error, result } = await ninth.ask(list);
  assert.equal(result, undefined);
  assert.match(error.message, /the topic cannot be reached: .*instance/);
  await windows[0].close();
});

test('a watch and what is said in another window need no ids of their own', async (t) => {
  const router = await room(t);
  const where = ['--url', router.url, '--topic', 'room'];
  const env = { MCPX_TOKEN: tokenOf('eye') };
  const watch = Program.start('mcpxctl', ['watch', '--count', '1', ...where], { env });
  await watch.until(/joined room as eye/);
  const say = Program.start('mcpxctl', ['say', 'hello', ...where], { env });
  assert.equal((await say.end()).code, 0, say.log);
  assert.equal((await watch.end()).code, 0, watch.log);
});

test('a router that is not there is an error, not an empty list', async (t) => {
  const pipe = await Pipe.open(programBinary('mcpx-bridge'),
    ['expose', '--url', 'ws://127.0.0.1:1', '--topic', 'room'],
    { MCPX_TOKEN: 'x' });
  t.after(() => pipe.close());
  const { error } = await pipe.ask(list);
  assert.match(error.message, /the topic cannot be reached: .*connection refused/);
});
