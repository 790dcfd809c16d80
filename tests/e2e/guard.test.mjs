/*
 * The story: an agent that executes whatever has a method and an id, and believes whoever answers
 * first, joins a topic of participants it does not know. Bare, each abuse succeeds, because the
 * router reads no payloads; behind `mcpx-bridge guard` each fails, and nothing else changes.
 * Protocol: sections 2, 3 and 5.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { Participant } from './lib/participant.mjs';
import { addressOf, guard, listeningGuard, naiveAgent } from './lib/guard.mjs';
import { Program, programBinary, run } from './lib/program.mjs';
import { relayTo, say } from './lib/relay.mjs';
import { Room } from './lib/room.mjs';
import { eventually, inTime, Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

const call = (name, id = 1) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const result = (text) => ({ jsonrpc: '2.0', id: 0, result: { content: [{ type: 'text', text }] } });

/** A room with a naive agent "naive" and a friend who may ask it. */
async function scene(t, guarded) {
  const room = new Room(t, router);
  const friend = await room.join('friend', ['mcp/request:*', 'mcp/response:*', 'chat']);
  const agent = await naiveAgent(t, router, { id: 'naive', topic: room.topic, guarded });
  return { room, friend, agent };
}

/** What the agent has executed, once it has answered a last, honest request of its friend. */
async function executed({ friend, agent }) {
  const id = friend.send('mcp/request:tools/call:last', call('last', 99), { to: ['naive'] });
  await friend.until(({ kind, correlation_id: cause }) => kind.startsWith('mcp/response')
    && cause === id, 'the answer to an honest request');
  await agent.says(/"did":"last".*\n/);
  return [...agent.output.matchAll(/^.*"did".*$/gm)].map(([line]) => JSON.parse(line).did);
}

/** Sends one envelope under `grants`; the router has nothing against it. */
async function abuse({ room }, grants, kind, payload, more = { to: ['naive'] }) {
  const mallory = await room.join('mallory', grants);
  await mallory.untilId(mallory.send(kind, payload, more));
}

const EXECUTIONS = [
  { what: 'a proposal', grants: ['mcp/proposal:*'], kind: 'mcp/proposal:tools/call:evil',
    reason: 'proposal_with_id' },
  { what: 'a response', grants: ['mcp/response:*'], kind: 'mcp/response:tools/call:evil',
    reason: 'kind_mismatch' },
  { what: 'a kind that tells a lie', grants: ['mcp/request:tools/call:sqrt'],
    kind: 'mcp/request:tools/call:sqrt', reason: 'kind_mismatch' },
  { what: 'a request to somebody else', grants: ['mcp/request:*'], more: { to: ['friend'] },
    kind: 'mcp/request:tools/call:evil', reason: undefined },
  { what: 'a kind that only looks like one of MCP', grants: ['mcp/*'],
    kind: 'mcp/whatever:tools/call:evil', reason: 'disguised' },
];

for (const { what, grants, kind, more, reason } of EXECUTIONS) {
  test(`${what} is executed by a bare agent`, async (t) => {
    const it = await scene(t, false);
    await abuse(it, grants, kind, call('evil'), more);
    assert.deepEqual(await executed(it), ['evil', 'last']);
  });

  test(`${what} does not reach a guarded agent`, async (t) => {
    const it = await scene(t, true);
    await abuse(it, grants, kind, call('evil'), more);
    assert.deepEqual(await executed(it), ['last']);
    if (reason === undefined) return; /* routine: only counted */
    const [line] = await it.agent.until(/^.*left_out.*\n/m);
    const { event, reason: said, from, kind: about } = JSON.parse(line);
    assert.deepEqual({ event, said, from, about },
      { event: 'left_out', said: reason, from: 'mallory', about: kind });
  });
}

test('lines that are too many are counted, with --json in an object as well', async (t) => {
  const it = await scene(t, true);
  const mallory = await it.room.join('mallory', ['mcp/proposal:*']);
  for (let i = 0; i < 150; i += 1) mallory.send('mcp/proposal:tools/call:evil', call('evil'));
  await it.agent.until(/lines_missing","text":"\d+ lines are missing here: they were too many/);
  for (const line of it.agent.log.trim().split('\n')) assert.equal(typeof JSON.parse(line).event, 'string');
});

/** The agent asks its friend, who answers when `ready(request)` has come true. */
async function askFriend({ friend, agent }, ready) {
  agent.stdin.write('ask 1 friend add\n');
  const { envelope: request } = await friend.until(
    ({ kind, from }) => kind === 'mcp/request:tools/call:add' && from === 'naive', 'the question');
  await ready(request);
  friend.send('mcp/response:tools/call:add', result('5'),
    { to: ['naive'], correlation_id: request.id });
  const { got } = JSON.parse((await agent.says(/^.*"got".*\n/m))[0]);
  return { text: got.result.content[0].text, request };
}

const answerOf = (who, from, request) => who.until((envelope) => envelope.from === from
  && envelope.correlation_id === request.id, `the answer of ${from}`);

/** Mallory answers in place of the friend. */
const spoofed = (mallory, friend) => async (request) => {
  mallory.send('mcp/response:tools/call:add', result('6'), { to: ['naive'], correlation_id: request.id });
  await answerOf(friend, 'mallory', request);
};

test('a bare agent answers its own question and believes itself', async (t) => {
  const it = await scene(t, false);
  const { text } = await askFriend(it, (request) => answerOf(it.friend, 'naive', request));
  assert.equal(text, 'naive did add');
});

test('a guarded agent does not hear its own question', async (t) => {
  const it = await scene(t, true);
  const { text } = await askFriend(it, () => {});
  assert.equal(text, '5');
  assert.deepEqual(await executed(it), ['last']);
});

test('the answer of somebody who was not asked does not reach a guarded agent', async (t) => {
  const it = await scene(t, true);
  const mallory = await it.room.join('mallory', ['mcp/response:*']);
  const { text } = await askFriend(it, spoofed(mallory, it.friend));
  assert.equal(text, '5');
  await it.agent.until(/left_out.*"reason":"other_sender"/);
});

/* Its own answer would be the first: a bare agent hears nothing of itself in a directed room. */
test('the answer of somebody who was not asked is believed by a bare agent', async (t) => {
  const directed = await Router.startFor(t, { config: { topics: { routing: 'directed' } }, args: ['--dev'] });
  const room = new Room(t, directed);
  const friend = await room.join('friend', ['mcp/*'], { query: { routing: 'all' } });
  const mallory = await room.join('mallory', ['mcp/response:*'], { query: { routing: 'all' } });
  const agent = await naiveAgent(t, directed, { id: 'naive', topic: room.topic, guarded: false });
  const { text } = await askFriend({ friend, agent }, spoofed(mallory, friend));
  assert.equal(text, '6');
});

/* ---- nothing else changes ---- */

const readerBehind = (gate, from, { topic }) => Participant.join(
  { url: gate.url, token: (...who) => from.token(...who) }, { id: 'reader', topic });

test('a message passes as the bytes it came as', async (t) => {
  const room = new Room(t, router);
  const gate = await listeningGuard(t, router);
  const speaker = await room.join('speaker', ['chat']);
  const reader = await readerBehind(gate, router, room);
  const text = `{"kind":"chat" ,"protocol":"mcpx/v0.1", "id":"bytes-${room.topic}",`
    + '"payload":{"n":12345678901234567890,"x":1e400,"\\u0061":"\\ud800","a":1,"a":2}}';
  speaker.sendText(text);
  speaker.send('chat', { text: 'x'.repeat(700000) }, { id: `long-${room.topic}` });
  for (const id of [`bytes-${room.topic}`, `long-${room.topic}`]) {
    const [sent, got] = await Promise.all([speaker.untilId(id), reader.untilId(id)]);
    assert.equal(got.raw, sent.raw);
  }
  await reader.ping();
  await reader.close();
});

test('ordinary requests pass, their errors too', async (t) => {
  const gate = await listeningGuard(t, router);
  for (const path of ['/health', '/v0.1/topics', '/nowhere']) {
    const [bare, guarded] = await Promise.all([router.http, gate.http]
      .map((base) => inTime(fetch(base + path), path)));
    assert.equal(guarded.status, bare.status, path);
    assert.equal(guarded.headers.get('content-type'), bare.headers.get('content-type'), path);
  }
  const refused = await fetch(`${gate.http}/v0.1/auth/token`, { method: 'POST', body: '{}' });
  assert.equal(refused.status, 400);
  await assert.rejects(Participant.join({ url: gate.url }, { topic: 't', authorization: false }), { status: 401 });
});

test('a reader that hangs is seen by the router, not hidden by the guard', async (t) => {
  const small = await Router.startFor(t, { config: { limits: { backlog_bytes: 1 << 20 } }, args: ['--dev'] });
  const room = new Room(t, small);
  const gate = await listeningGuard(t, small);
  const speaker = await room.join('speaker', ['chat']);
  const reader = await readerBehind(gate, small, room);
  reader.pause();
  const gone = speaker.until(({ kind, payload }) => kind === 'system/presence'
    && payload.event === 'leave' && payload.participant.id === 'reader', 'its leave');
  let over = false;
  gone.finally(() => { over = true; }).catch(() => {});
  while (!over) await speaker.untilId(speaker.send('chat', { text: 'x'.repeat(500000) }));
  await gone;
  reader.resume();
  assert.equal((await reader.untilClosed()).code, 4003);
});

test('a router is found under whichever of its addresses it listens at', async (t) => {
  const gate = await listeningGuard(t, { http: router.http.replace('127.0.0.1', 'localhost') });
  assert.equal((await fetch(`${gate.http}/health`)).status, 200);
});

test('a router that is not there is a 502 that says so', async (t) => {
  const gate = await listeningGuard(t, { http: 'http://127.0.0.1:1' });
  const answer = await fetch(`${gate.http}/health`);
  assert.equal(answer.status, 502);
  assert.match((await answer.json()).detail, /connection refused/);
  await gate.until(/cannot connect to 127\.0\.0\.1 port 1: connection refused/);
});

/** A router that takes connections and says nothing; `sockets` are what it has taken. */
async function silentRouter(t) {
  const sockets = [];
  const { port } = await relayTo(t, 0, { take: (socket) => {
    socket.gone = new Promise((done) => { socket.once('close', done); });
    sockets.push(socket.resume());
    return true;
  } });
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  return { http: `http://127.0.0.1:${port}`, sockets, taken: (count) =>
    eventually(() => sockets.length >= count, () => `${sockets.length} connections`) };
}

const portOf = (gate) => Number(new URL(gate.http).port);
const UPGRADE = 'GET /ws?topic=t HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

test('a router that hangs keeps an agent waiting only so long', async (t) => {
  const silent = await silentRouter(t);
  const gate = await listeningGuard(t, silent, ['--timeout', '2']);
  assert.match(await say(portOf(gate), UPGRADE), /^HTTP\/1\.1 504 /);
  await silent.taken(1);
  await gate.until(/the router did not answer in time/);
  await inTime(silent.sockets[0].gone, () => 'the router still has the connection');
});

test('an agent that leaves while the router hangs leaves nothing behind', async (t) => {
  const silent = await silentRouter(t);
  const gate = await listeningGuard(t, silent);
  const agents = Array.from({ length: 50 }, () => connect(portOf(gate), '127.0.0.1'));
  for (const agent of agents) agent.on('error', () => {}).write(UPGRADE);
  await silent.taken(50);
  for (const agent of agents) agent.destroy();
  await inTime(Promise.all(silent.sockets.map((socket) => socket.gone)), () => 'the router still has connections');
});

/* ---- the command ---- */

test('the guard ends with the exit code of its command, or 128 and its signal', async () => {
  const sh = (script) => guard(router, [], ['sh', '-c', script]);
  assert.equal((await sh('exit 7').end()).code, 7);
  assert.equal((await sh('kill -KILL $$').end()).code, 137);
  const signalled = sh('trap "exit 9" TERM; echo here; while :; do read line || exit 8; done');
  await signalled.says(/here/);
  signalled.stdin.on('error', () => {}); // a shell that ended at once reads no line
  signalled.kill();
  signalled.stdin.write('\n');
  assert.equal((await signalled.end()).code, 9);
});

test('under nohup, SIGHUP is ignored by the guard and its command', async () => {
  const program = Program.start('sh', ['-c', 'trap "" HUP; exec "$@"', 'sh', programBinary('mcpx-bridge'), 'guard',
    '--url', addressOf(router), '--', 'sh', '-c', 'grep -h SigIgn /proc/$PPID/status /proc/self/status'],
  { program: '/bin/sh', stdin: 'pipe', stdout: 'kept' });
  await program.says(/(SigIgn:.*[13579bdf]\n){2}/);
  assert.equal((await program.finish()).code, 0);
});

test('in a terminal the command gets each signal once, whoever sends it', async (t) => {
  if (spawnSync('script', ['--version']).status !== 0) {
    t.skip('there is no script(1) here, so NO terminal is tested');
    return;
  }
  const traps = 'for s in INT QUIT TERM; do trap "echo got $s" $s; done; echo here $PPID $PPID; '
    + 'while :; do read line; done';
  const terminal = Program.start('script', ['-qec', `"${programBinary('mcpx-bridge')}" guard --url ${
    addressOf(router)} -- sh -c '${traps}'`, '/dev/null'], { program: 'script', stdin: 'pipe', stdout: 'kept' });
  t.after(() => terminal.kill('SIGKILL'));
  const pid = Number((await terminal.says(/here (\d+) \d/))[1]);
  const heard = (count) => terminal.says(new RegExp(`(got \\w+\r?\n[^]*){${count}}`));
  for (const [n, signal] of ['SIGINT', undefined, 'SIGQUIT', undefined, 'SIGTERM'].entries()) {
    if (signal) process.kill(pid, signal);
    else terminal.stdin.write('\x03');
    await heard(n + 1);
  }
  assert.deepEqual(terminal.output.match(/got \w+/g),
    ['got INT', 'got INT', 'got QUIT', 'got INT', 'got TERM']);
});

test('the command finds the guard in its environment and has its own input', async () => {
  const program = guard(router, [], ['sh', '-c',
    'echo "$MCPX_URL $MCPX_GATEWAY $GATEWAY_URL"; read line; echo "read $line"']);
  program.stdin.write('hello\n');
  await program.says(/^(ws:\/\/127\.0\.0\.1:\d+) \1 \1$/m);
  await program.says(/^read hello$/m);
  assert.equal((await program.finish()).code, 0);
});

test('what cannot be guarded is said, with exit code 2, and what cannot be run with 1', async () => {
  const tls = guard({ http: 'wss://router' });
  assert.equal((await tls.end()).code, 2);
  assert.match(tls.log, /ws only/);
  const missing = guard(router, [], ['/nonexistent/agent']);
  assert.equal((await missing.end()).code, 1);
  assert.match(missing.log, /cannot run the command: no such file/);
  const few = await run('/bin/sh', ['-c', 'ulimit -n 7; exec "$@"', 'sh', programBinary('mcpx-bridge'), 'guard']);
  assert.deepEqual([few.code, few.stderr], [1, 'guard: cannot have an event loop: too many open files\n']);
});
