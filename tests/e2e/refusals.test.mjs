/*
 * The story: an agent has been given less than it would like. It must be stopped every time, the others
 * must not notice, and it must be told what it lacks and what it may do instead, or it will just try
 * again. If this breaks, grants protect nothing or nobody can work with them. Protocol: sections 3 and 6.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { callOf, rpc } from './lib/wire.mjs';

const router = await Router.startFor({ after });

const call = (name, args) => callOf(1, name, args);

/** What the router says to a call that it refuses. */
const explanation = (seat, name, args) => seat.participant.untilRefused(seat.write(call(name, args)));

test('a call without a grant is refused with what to ask for, and nobody else hears it', async (t) => {
  const room = new Room(t, router);
  await room.everything();
  const witness = await room.join('witness', ['chat']);
  const grants = ['mcp/request:tools/call:get-*', 'mcp/proposal:tools/call:*'];
  const limited = await room.seat('limited', grants);
  await room.settle(witness);
  const before = witness.received.length;

  const refusal = await explanation(limited, 'echo', { message: 'x' });
  assert.equal(refusal.error, 'capability_violation');
  assert.equal(refusal.message, "You lack capability for 'mcp/request:tools/call:echo'");
  assert.equal(refusal.attempted_kind, 'mcp/request:tools/call:echo');
  assert.deepEqual(refusal.your_capabilities, grants);
  assert.equal(refusal.reason, 'no_matching_grant');
  assert.equal(refusal.nearest, 'mcp/request:tools/call:get-*');
  assert.equal(refusal.would_allow, 'mcp/request:tools/call:echo');
  assert.equal(refusal.alternative, 'mcp/proposal:tools/call:echo');

  await room.settle(witness);
  const since = witness.received.slice(before).map(({ envelope }) => envelope);
  assert.deepEqual(since.filter(({ from, to }) => from === 'limited' || to?.includes('limited')), []);
  const { json } = await router.get(`/v0.1/topics/${room.topic}/history`,
    await router.token('witness', room.topic));
  assert.ok(!json.history.some(({ kind }) => kind === 'mcp/request:tools/call:echo'));

  assert.match(await limited.call(call('get-sum', { a: 2, b: 40 })), /\b42\b/,
    'what is granted goes on working');
});

test('the alternative can be sent as it stands, and another may carry it out', async (t) => {
  const room = new Room(t, router);
  await room.everything();
  const agent = await room.join('agent', ['mcp/proposal:*']);
  const human = await room.join('human', ['mcp/*', 'chat']);
  const params = { name: 'echo', arguments: { message: 'approved' } };
  const payload = { jsonrpc: '2.0', id: 7, method: 'tools/call', params };
  const { alternative } = await agent.untilRefused(
    agent.send('mcp/request:tools/call:echo', payload, { to: ['everything'] }));
  const proposal = agent.send(alternative, { method: 'tools/call', params }, { to: ['everything'] });
  await human.untilId(proposal);
  const request = human.send('mcp/request:tools/call', payload,
    { to: ['everything'], correlation_id: proposal });
  const { envelope } = await human.untilId(request);
  assert.equal(envelope.kind, 'mcp/request:tools/call:echo', 'derived from the proposal');
  const answer = await human.until((e) => e.correlation_id === request, 'the answer');
  assert.equal(answer.envelope.kind, 'mcp/response:tools/call:echo');
  assert.equal(answer.envelope.payload.result.content[0].text, 'Echo: approved');
});

test('files: what is granted is read, and neither writing nor climbing out is possible', async (t) => {
  const folder = folderFor(t);
  writeFileSync(join(folder, 'hello.txt'), 'hello from a file\n');
  const room = new Room(t, router);
  await room.server('fs', 'server-filesystem', [folder]);
  const witness = await room.join('witness', ['chat']);
  const reader = await room.seat('reader', ['mcp/request:tools/list',
    'mcp/request:tools/call:read_*', 'mcp/request:resources/read:file:///srv/*'], 'fs');

  assert.match(await reader.call(rpc(1, 'tools/list')), /"write_file"/, 'the server would do it');
  assert.match(await reader.call(call('read_text_file', { path: join(folder, 'hello.txt') })),
    /"hello from a file\\n"/);

  const target = join(folder, 'new.txt');
  const refusal = await explanation(reader, 'write_file', { path: target, content: 'no' });
  assert.equal(refusal.reason, 'no_matching_grant');
  assert.equal(refusal.would_allow, 'mcp/request:tools/call:write_file');
  assert.equal(refusal.nearest, 'mcp/request:tools/call:read_*');
  assert.equal(existsSync(target), false);
  assert.equal(readFileSync(join(folder, 'hello.txt'), 'utf8'), 'hello from a file\n');

  const ask = (uri) => reader.write(rpc(1, 'resources/read', { uri }));
  const allowed = ask('file:///srv/notes/a..b.txt');
  await witness.untilId(allowed);
  for (const uri of ['file:///srv/../etc/passwd', 'file:///srv/%2e%2e/etc/passwd',
    'file:///srv/a/.%2E/b', 'file:///srv/a%2f..%2fb', 'file:///srv/./x', 'file:///srv/a/..']) {
    const { reason, nearest } = await reader.participant.untilRefused(ask(uri));
    assert.equal(reason, 'no_matching_grant', uri);
    assert.equal(nearest, 'mcp/request:resources/read:file:///srv/*', uri);
  }
});
