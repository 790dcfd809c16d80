/*
 * inside.mjs - demo 0: what goes over the wire between participants and ordinary MCP servers: who may
 * do what, and what everybody sees of it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Room } from '../lib/room.mjs';
import { Router } from '../lib/router.mjs';
import { bold, cyan, dim, green, red, yellow } from '../lib/stage.mjs';
import { rpc } from '../lib/wire.mjs';

export const title = 'inside: the messages themselves: derived kinds, refusals, late joiners, resuming';

const say = (text) => stage.print(text);
const row = (name, text) => say(`   ${cyan(name.padEnd(12))} ${text}`);

/* `mcp/response:tools/call:echo` with its last part set off when it was derived. */
function kindText(kind, sentAs) {
  return sentAs !== undefined && kind !== sentAs && kind.startsWith(sentAs)
    ? `${sentAs}${green(bold(kind.slice(sentAs.length)))}` : kind;
}

function line(envelope, sentAs) {
  const to = envelope.to?.length > 0 ? envelope.to.join(', ') : 'everyone';
  say(`   ${cyan(envelope.from.padEnd(10))} → ${to.padEnd(10)}  ${kindText(envelope.kind, sentAs)}`);
}

let stage;
const step = (title) => stage.step(title);

async function gather(room, folder) {
  await step('Who is in the room');
  const observer = await room.join('observer', []);
  await room.everything('tools');
  await room.server('files', 'server-filesystem', [folder]);
  row('tools', 'server-everything, an ordinary MCP server on its standard streams');
  row('files', `server-filesystem, another one, serving ${dim(folder)}`);
  row('observer', `may say ${red('nothing')}, and watches`);
  const alice = await room.seat('alice', ['mcp/*', 'chat'], 'tools');
  row('alice', `may ${green('mcp/*')} and ${green('chat')}`);
  const agent = await room.seat('agent', ['mcp/request:tools/call:read_*', 'mcp/proposal:*'], 'files');
  row('agent', `may ${green('…tools/call:read_*')} and ${green('mcp/proposal:*')}`);
  return { observer, alice, agent };
}

async function call({ observer, alice }) {
  await step('alice calls a tool; the answer says what it is an answer to');
  const { envelope: request } = await observer.untilId(alice.write(rpc(1, 'tools/call',
    { name: 'echo', arguments: { message: 'hello, room' } })));
  const { envelope: response } = await observer.until(
    (e) => e.correlation_id === request.id, 'the response');
  const sentAs = 'mcp/response:tools/call';
  line(request);
  line(response, sentAs);
  say(dim(`   a server sends ${sentAs}; the router knew the rest from the request`));
  say(`   ${JSON.stringify(response.payload.result.content[0].text)}`);
  assert.equal(response.kind, `${sentAs}:echo`);
}

async function overstep({ observer, alice, agent }, room, target) {
  await step('agent tries to write a file, which it was not granted');
  const since = observer.received.length;
  const wish = { name: 'write_file', arguments: { path: target, content: 'signed off by alice\n' } };
  const refusal = await agent.participant.untilRefused(agent.write(rpc(1, 'tools/call', wish)));
  assert.equal(refusal.error, 'capability_violation');
  say(`   ${red('✗')} ${refusal.message}`);
  for (const name of ['reason', 'nearest', 'would_allow', 'alternative']) {
    say(`     ${name.padEnd(12)} ${yellow(refusal[name])}`);
  }
  await room.settle(alice.participant, observer);
  assert.deepEqual(observer.heard(since).filter(({ from }) => from === 'agent'), []);
  assert.equal(existsSync(target), false);
  say(dim('   nobody else received a byte of it, and there is no file'));
  return { wish, alternative: refusal.alternative };
}

async function propose({ observer, alice, agent }, { wish, alternative }, target) {
  await step('so it proposes, and alice, who may, carries it out');
  const params = { method: 'tools/call', params: wish };
  const proposal = agent.participant.send(alternative, params, { to: ['files'] });
  line((await observer.untilId(proposal)).envelope);
  const request = alice.participant.send('mcp/request:tools/call',
    { jsonrpc: '2.0', id: 1, ...params }, { to: ['files'], correlation_id: proposal });
  const { envelope } = await observer.untilId(request);
  line(envelope, 'mcp/request:tools/call');
  const { envelope: answer } = await observer.until(
    (e) => e.correlation_id === request, 'the answer');
  line(answer, 'mcp/response:tools/call');
  assert.equal(envelope.kind, 'mcp/request:tools/call:write_file');
  assert.equal(readFileSync(target, 'utf8'), 'signed off by alice\n');
  say(`   the file says ${JSON.stringify(readFileSync(target, 'utf8').trim())}`);
}

async function watch({ observer, alice }, room) {
  await step('the observer saw all of that, and can say nothing');
  await room.settle(alice.participant, observer);
  const seen = observer.heard().filter(({ kind }) => kind.startsWith('mcp/'));
  say(`   ${seen.length} MCP envelopes, the last five of them:`);
  for (const envelope of seen.slice(-5)) line(envelope);
  const refusal = await observer.untilRefused(observer.send('chat', { text: 'psst' }));
  say(`   ${red('✗')} ${refusal.message}`);
  assert.deepEqual(refusal.your_capabilities, []);
}

async function joinLate({ observer }, room) {
  await step('somebody comes late and is told what happened, as it happened');
  const late = await room.join('late', []);
  const { raw, envelope } = await late.until((e) => e.kind === 'system/history', 'history');
  const told = envelope.payload.envelopes.filter(({ kind }) => kind.startsWith('mcp/'));
  for (const one of told.slice(-3)) line(one);
  const lived = observer.received.filter((one) => one.envelope.kind.startsWith('mcp/'));
  assert.equal(lived.filter((one) => raw.includes(one.raw)).length, told.length);
  say(`   ${told.length} of ${told.length} byte for byte what the observer received live`);
}

async function resume({ alice }, router, room) {
  await step('a connection fails; nothing is lost');
  const token = await router.token('mobile', room.topic, []);
  const mobile = await room.join('mobile', [], { token });
  const last = await room.settle(alice.participant, mobile);
  const place = mobile.place();
  await mobile.drop();
  for (let n = 1; n <= 3; n++) alice.participant.send('chat', { n }, { id: `missed-${n}` });
  await alice.participant.untilId('missed-3');
  const again = await room.join('mobile', [], { token, query: { ...place, after: last } });
  await again.untilId('missed-3');
  const caught = again.heard().filter(({ kind }) => kind === 'chat').map(({ id }) => id);
  assert.deepEqual(caught, ['missed-1', 'missed-2', 'missed-3']);
  say(`   back with ?epoch=…&serial=…&after=…, resumed: ${green(String(again.welcome.payload.resumed))}, `
    + `caught up on ${caught.join(', ')}`);
}

export async function play(given) {
  stage = given;
  const folder = stage.folder;
  const router = await Router.start();
  stage.after(() => router.stop());
  stage.say(dim(router.url));
  const room = new Room(stage, router, 'demo');
  const target = join(folder, 'decision.txt');
  const people = await gather(room, folder);
  await call(people);
  const idea = await overstep(people, room, target);
  await propose(people, idea, target);
  await watch(people, room);
  await joinLate(people, room);
  await resume(people, router, room);
}
