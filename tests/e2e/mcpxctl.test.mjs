/*
 * The story: somebody with a terminal and nothing else looks into a topic, calls real servers,
 * proposes, approves, and sees what became of it. Protocol: sections 2 and 8.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { ends } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

/** A room with server-filesystem as "files", and mcpxctl as whom the test says. */
async function seat(t) {
  const room = new Room(t, router);
  const folder = folderFor(t);
  await room.server('files', 'server-filesystem', [folder]);
  return { folder, ctl: (...words) => room.ctl(...words) };
}

test('tools are listed and called', async (t) => {
  const { folder, ctl } = await seat(t);
  const path = join(folder, 'note.txt');
  writeFileSync(path, 'first line\nsecond line');
  const list = await ctl('ann', ['mcp/*'], 'list', 'tools', '--to', 'files',
    '--timeout', '60'); /* else three seconds */
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /^files {2}write_file {2}\S/m);
  const read = await ctl('ann', ['mcp/*'], 'call', 'read_text_file', JSON.stringify({ path }),
    '--to', 'files');
  assert.deepEqual({ ...read, stderr: '' }, { code: 0, stdout: 'first line\nsecond line\n', stderr: '' },
    read.stderr);
  await ends(ctl('ann', ['mcp/*'], 'call', 'read_text_file',
    JSON.stringify({ path: join(folder, 'absent') }), '--to', 'files'), 1, /the tool says that it failed/);
  const raw = await ctl('ann', ['mcp/*'], 'call', '--method', 'ping', '--to', 'files', '--json');
  assert.deepEqual(JSON.parse(raw.stdout), { jsonrpc: '2.0', id: 1, result: {} });
});

test('a proposal is refused as a call, approved by another, and the file appears', async (t) => {
  const { folder, ctl } = await seat(t);
  const path = join(folder, 'decision.txt');
  const wish = ['write_file', JSON.stringify({ path, content: 'signed\n' }), '--to', 'files'];
  const timid = ['mcp/proposal:*', 'mcp/request:tools/list'];
  await ends(ctl('agent', timid, 'call', ...wish), 3);
  const proposed = await ends(ctl('agent', timid, 'propose', ...wish));
  const id = proposed.stdout.trim();
  const open = await ctl('ann', ['mcp/*'], 'proposals');
  const [, listed] = open.stdout.match(/ (\S+@[0-9a-f]{32})  agent -> files/);
  assert.ok(listed.startsWith(`${id.slice(0, 8)}@`), open.stdout);
  assert.equal(existsSync(path), false);

  const unbound = await ends(ctl('ann', ['mcp/*'], 'approve', id, '--yes'), 2);
  assert.ok(unbound.stderr.includes('--yes needs ID@DIGEST'), unbound.stderr);
  assert.equal(existsSync(path), false);
  const approved = await ends(ctl('ann', ['mcp/*'], 'approve', listed, '--yes'));
  assert.ok(approved.stderr.includes(`"path": ${JSON.stringify(path)}`), approved.stderr);
  assert.equal(readFileSync(path, 'utf8'), 'signed\n');
  const chain = await ctl('ann', ['mcp/*'], 'chain', id, '--json');
  const steps = chain.stdout.trim().split('\n').map((line) => JSON.parse(line));
  const [proposal, request] = steps;
  assert.deepEqual([proposal.role, proposal.state, proposal.id], ['proposal', 'done', id]);
  assert.deepEqual([request.role, request.parent, request.same_params], ['request', id, true]);
  /* the server asks for roots in between, which is declined: part of the story too */
  const results = steps.filter(({ role }) => role === 'result');
  assert.deepEqual(results.map(({ parent }) => parent), [request.id]);
  assert.equal((await ctl('ann', ['mcp/*'], 'proposals')).stdout, '');
});
