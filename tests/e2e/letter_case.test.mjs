/*
 * The story: mallory may call read_* of a server written in Go, whose JSON library takes "Name" for
 * name and keeps the last of two. Over a bare pipe each of his messages executes delete_all; behind
 * `mcpx-bridge import` none does, and he is told why. Protocol: sections 1 and 9.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderFor } from './lib/folder.mjs';
import { importRoom } from './lib/import.mjs';
import { Router } from './lib/router.mjs';
import { callOf, Pipe } from './lib/wire.mjs';

const HAS_GO = spawnSync('go', ['version']).status === 0;
const skip = HAS_GO ? false : 'there is no Go (Debian: apt-get install golang-go)';
if (skip) console.error(`SKIPPED: ${skip}, so NO server that ignores letter case is tried.`);

const CALL = '"jsonrpc":"2.0","id":7';
const READ = '"method":"tools/call","params":{"name":"read_x"}';
const ATTACKS = {
  'a name in another letter case':
    `{${CALL},"method":"tools/call","params":{"name":"read_x","Name":"delete_all"}}`,
  'params in another letter case': `{${CALL},${READ},"PARAMS":{"name":"delete_all"}}`,
  'params with a long s': `{${CALL},${READ},"param\u017f":{"name":"delete_all"}}`,
  'params with a long s, escaped': `{${CALL},${READ},"param\\u017f":{"name":"delete_all"}}`,
  'a method in another letter case':
    `{${CALL},"method":"ping","params":{"name":"delete_all"},"Method":"tools/call"}`,
};
const kindOf = (text) => (text.includes('"ping"') ? 'mcp/request:ping'
  : 'mcp/request:tools/call:read_x');

const router = await Router.startFor({ after });
const folder = folderFor({ after });
const program = join(folder, 'server');
before(() => {
  if (skip) return;
  const { status, stderr } = spawnSync('go', ['build', '-o', program,
    fileURLToPath(new URL('lib/folding_server.go', import.meta.url))],
  { encoding: 'utf8', env: { ...process.env, GO111MODULE: 'off', GOPROXY: 'off',
    GOFLAGS: '', GOCACHE: process.env.GOCACHE ?? join(folder, 'cache') } });
  assert.equal(status, 0, stderr);
});

/** What the server has executed, by its own account. */
async function executed(call) {
  return JSON.parse(await call(callOf(1, 'read_executed'))).result.content[0].text;
}

for (const [name, text] of Object.entries(ATTACKS)) {
  test(`executed over a bare pipe: ${name}`, { skip }, async (t) => {
    const pipe = await Pipe.open(program, []);
    t.after(() => pipe.close());
    pipe.write(text);
    assert.equal(await executed((line) => pipe.call(line)), 'delete_all');
  });

  test(`not executed behind an import: ${name}`, { skip }, async (t) => {
    const { room } = await importRoom(t, router, [program], []);
    const mallory = await room.join('mallory',
      ['mcp/request:tools/call:read_*', 'mcp/request:ping', 'chat']);
    const id = 'attack';
    mallory.sendText(`{"protocol":"mcpx/v0.1","id":"${id}","to":["server"],`
      + `"kind":"${kindOf(text)}","payload":${text}}`);
    const { envelope } = await mallory.until((e) => e.correlation_id === id
      && e.kind.startsWith('mcp/response'), 'the answer');
    assert.equal(envelope.payload.error.code, -31020);
    assert.match(envelope.payload.error.message, /letter case/);
    const seat = await room.seat('ann', ['mcp/*'], 'server');
    assert.equal(await executed((line) => seat.call(line)), '');
  });
}
