/*
 * The story: a coding agent wants to use a tool, and its hook asks the people of a topic. What each
 * host reads then is its own answer; without a decision of somebody else, the tool does not run.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { ends, mcpxctl } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';

const router = await Router.startFor({ after });
const ASKER = ['mcp/proposal:permission/ask', 'mcp/response:permission/ask', 'mcp/withdraw'];
const LOST = 'the topic could not be asked: no connection, or no valid token';
const JUDGE = ['mcp/request:permission/ask:*', 'mcp/reject'];

const environment = async (room) => ({ MCPX_URL: router.url, MCPX_TOPIC: room.topic,
  MCPX_TOKEN: await router.token('agent', room.topic, ASKER) });

/* The rows of the unit test: a host's JSON, and its answers to yes, to no and to no decision. */
const HOOKS = readFileSync(new URL('../unit/tools/rows/hook.txt', import.meta.url), 'utf8')
  .match(/^# one of each[^]*?(?=\n# )/m)[0].split('\n').slice(1).join('\n').split(/\n(?=\{)/)
  .map((row) => row.split('\n  ')).map(([hook, , answers]) => ({ hook, answers: answers.split('|') }));

const asks = async (room, hook, ...options) =>
  mcpxctl(['ask', ...options], { input: hook, env: await environment(room) });

const isPrompt = ({ kind }) => kind === 'mcp/proposal:permission/ask:Bash';

/** The next open proposal as ID@DIGEST. */
const open = (room) => eventually(async () =>
  (await room.ctl('ann', JUDGE, 'proposals')).stdout.match(/ (\S+@[0-9a-f]{32}) {2}agent/)?.[1], 'no proposal');

for (const { hook, answers: [yes, no, none] } of HOOKS) {
  test(`approved, rejected, nobody, no router: ${hook.slice(0, 60)}`, async (t) => {
    const room = new Room(t, router);
    const expect = ({ code, stdout, stderr }, answer, reason) =>
      assert.deepEqual([code, stdout.trim()], [0, answer.replaceAll('\\"why\\"', reason).trim()], stderr);
    const allowed = asks(room, hook);
    const approved = await room.ctl('ann', JUDGE, 'approve', await open(room), '--yes');
    assert.deepEqual([approved.code, JSON.parse(approved.stdout)], [0, { behavior: 'allow' }], approved.stderr);
    expect(await allowed, yes, 'approved by ann');
    const denied = asks(room, hook);
    await ends(room.ctl('ann', JUDGE, 'reject', await open(room), '--reason', 'not today'));
    expect(await denied, no, 'rejected by ann: not today');
    expect(await asks(room, hook, '--timeout', '0.5'), none, 'nobody in the topic decided in time');
    expect(await asks(room, hook, '--url', 'ws://127.0.0.1:9'), none, LOST);
    const denies = await asks(room, hook, '--otherwise', 'deny', '--url', 'ws://127.0.0.1:9');
    expect(denies, no, LOST);
  });
}

test('neither another instance of the asker nor other params allow, and the chain shows it', async (t) => {
  const room = new Room(t, router);
  const judge = await room.join('judge', JUDGE);
  const self = await room.join('agent', JUDGE);
  for (const [who, params, expected] of [
    [self, undefined, /"deny",.*asker cannot approve/], [judge, undefined, undefined],
    [judge, { name: 'Bash', input: {} }, /"deny",.*params are not those/]]) {
    const asked = room.ctl('agent', ASKER, 'ask', '--tool', 'Bash', '--input', '{"a":1}');
    const { envelope: proposal } = await judge.until(isPrompt, 'a prompt', { since: judge.received.length });
    who.send('mcp/request:permission/ask:Bash', { jsonrpc: '2.0', id: 7, ...proposal.payload,
      params: params ?? proposal.payload.params }, { to: proposal.to, correlation_id: proposal.id });
    await ends(asked, expected ? 3 : 0, expected ?? /^{"behavior":"allow"}$/m);
    const { stdout: chain } = await room.ctl('judge', JUDGE, 'chain', proposal.id, '--json');
    assert.match(chain, expected ? /"state":"failed"[^]*-31002/ : /"state":"done"[^]*"behavior":"allow"/);
  }
});

test('nor does another instance that takes the id and answers itself', async (t) => {
  const room = new Room(t, router);
  const judge = await room.join('judge', JUDGE);
  const asked = room.ctl('agent', ASKER, 'ask', '--tool', 'Bash', '--timeout', '4');
  const { envelope: { id, payload, to } } = await judge.until(isPrompt, 'a prompt');
  const self = await room.join('agent', [...JUDGE, ...ASKER]);
  await judge.until((one) => one.payload.participant?.id === 'agent~2', 'the asker again');
  const about = { jsonrpc: '2.0', id: 7 };
  const request = self.send('mcp/request:permission/ask:Bash', { ...about, ...payload }, { to, correlation_id: id });
  self.send('mcp/response:permission/ask:Bash', { ...about, result: { behavior: 'allow' } },
    { to: ['agent', 'agent~2'], correlation_id: request });
  assert.deepEqual([(await asked).code, (await asked).stdout.includes('allow')], [124, false]);
});

test('what another instance of the asker takes back is denied, and taken back once', async (t) => {
  const room = new Room(t, router);
  const asked = room.ctl('agent', ASKER, 'ask', '--tool', 'Bash', '--timeout', '4');
  await ends(room.ctl('agent', ASKER, 'withdraw', await open(room), '--reason', 'not now'));
  await ends(asked, 3, /"deny".*withdrawn by agent~2: not now/);
  const { stdout } = await room.ctl('judge', JUDGE, 'history', '--json');
  assert.equal(stdout.split('"mcp/withdraw"').length, 2, stdout);
});

test('what cannot be asked is denied, and an interrupted prompt is withdrawn', async (t) => {
  const room = new Room(t, router);
  await ends(asks(room, '{"tool_input":1}', '--host', 'claude'), 2, /neither tool_name nor command/);
  await ends(asks(room, '', '--tool', 'Bash', '--input', '[1]'), 2, /--input, line 1, column 1: expected a JSON object/);
  for (const [host, code] of [[[], 130], [['--host', 'cursor'], 0]]) {
    const judge = await room.join('judge', JUDGE);
    const asked = mcpxctl(['ask', '--tool', 'Bash', ...host], { env: await environment(room) });
    const { envelope: { id } } = await judge.until(isPrompt, 'a prompt');
    asked.child.kill('SIGTERM');
    await judge.until((one) => one.kind === 'mcp/withdraw' && one.correlation_id === id, 'its withdrawal');
    await ends(asked, code, /"deny".*interrupted/);
  }
});
