/*
 * The story: the bridge asks a server which protocol it speaks, and the server, made with the Rust
 * SDK, takes that for a breach of the protocol and ends. It has to get to the table all the same,
 * and must not be driven away again each time it is started.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderFor } from './lib/folder.mjs';
import { importRoom, serverOf } from './lib/import.mjs';
import { Program } from './lib/program.mjs';
import { ownServer, Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { callOf, rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

/* rmcp 0.16; the package is one program, for Linux on x64 only. */
const RUST = fileURLToPath(new URL(
  'node_modules/@vaulttools/mcp-linux-x64/bin/vaulttools-mcp', import.meta.url));

const strict = (t, words = [], options = []) => importRoom(t, router, ownServer('strict_server', ...words), ['ann'],
  { options, env: { STRICT_LOG: join(folderFor(t), 'log') } });
const starts = async (ann) => (await ann.ask(rpc(1, 'starts'))).result;

test('a server made with the Rust SDK serves its tools',
  { skip: !existsSync(RUST) && `not on ${process.platform} ${process.arch}` }, async (t) => {
    const { bridge, seats: [ann] } = await importRoom(t, router, [RUST, '--allowed-dir', folderFor(t)]);
    const { result } = await ann.ask(rpc(1, 'tools/list'));
    assert.ok(result.tools.some(({ name }) => name === 'vaulttools_dev_color_convert'));
    const answer = await ann.ask(callOf(2, 'vaulttools_dev_color_convert', { color: '#ff0000', to_format: 'rgb' }));
    assert.match(answer.result.content[0].text, /255/);
    await bridge.until(/restarts the server and sends initialize first/);
    await bridge.until(/cannot handle server\/discover/);
  });

test('a server that ended when it was asked is asked once, in all its lives', async (t) => {
  const { bridge, seats: [ann] } = await strict(t);
  assert.deepEqual(await starts(ann), ['server/discover', 'initialize']);
  ann.write(rpc(2, 'end'));
  await bridge.until(/exited with code 3/);
  assert.deepEqual(await starts(ann), ['server/discover', 'initialize', 'initialize']);
  process.kill(serverOf(bridge, 'strict_server').pid, 'SIGKILL');
  await bridge.until(/killed by signal 9/);
  assert.deepEqual(await starts(ann), ['server/discover', ...Array(3).fill('initialize')]);
});

test('a server that refuses initialize when it was asked is started again', async (t) => {
  const { bridge, seats: [ann] } = await strict(t, ['refuse']);
  assert.deepEqual(await starts(ann), ['server/discover', 'initialize']);
  await bridge.until(/refuses initialize after server\/discover/);
});

test('with --protocol nothing has to be found out', async (t) => {
  const { seats: [ann] } = await strict(t, [], ['--protocol', '2025-11-25']);
  assert.deepEqual(await starts(ann), ['initialize']);
});

test('--no-restart ends with the server, not with the question', async (t) => {
  const { bridge, seats: [ann] } = await strict(t, [], ['--no-restart']);
  assert.deepEqual(await starts(ann), ['server/discover', 'initialize']);
  bridge.kill();
  await bridge.end();
});

test('a server that ends however it is greeted ends the bridge with --no-restart', async (t) => {
  const topic = new Room(t, router).topic;
  const bridge = Program.start('mcpx-bridge', ['import', '--url', router.url, '--topic', topic,
    '--no-restart', '--', 'sh', '-c', 'read line; exit 7'],
  { env: { MCPX_TOKEN: await router.token('server', topic, ['mcp/*']) } });
  assert.deepEqual(await bridge.end(), { code: 1, signal: null });
  assert.match(bridge.log, /exited with code 7[^]*exited with code 7/);
});
