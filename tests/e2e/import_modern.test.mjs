/*
 * The story: servers of the protocol of 2026-07-28 ask by answering, and clients of 2025 want to be
 * asked. A client that cannot be asked learns what is missing; who approves a call is not asked.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { exposeClient, listed, PROPOSER_GRANTS } from './lib/expose.mjs';
import { startImport } from './lib/import.mjs';
import { matrixServer, Room, withModern } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

/* A client of the first generation that can be asked; `answers` are its user's, in turn. */
async function asked(t, { topic }, id, answers, more) {
  const client = await exposeClient(t, router, topic, id, { options: ['--names', 'plain'],
    offers: { elicitation: {} },
    prepare: (it) => it.setRequestHandler(ElicitRequestSchema, () => answers.shift()), ...more });
  await listed(client, 'ask');
  return async (times) => {
    const { content, isError } = await client.callTool({ name: 'ask', arguments: { times } });
    return (isError ? 'error: ' : '') + content[0].text;
  };
}

const ADA = { action: 'accept', content: { name: 'Ada' } };
const room = new Room({ after }, router);
if (!withModern.skip) await startImport({ after }, router, room.topic, 'server', matrixServer(2));

test('a call says which input is missing', withModern, async (t) => {
  const call = await asked(t, room, 'bob', []);
  assert.match(await call(1), /^error: the server asks for the input "name-0": /);
  const mute = await asked(t, room, 'eve', [], { offers: {}, prepare: undefined });
  assert.match(await mute(1), /^error: the client cannot .*"elicitation"/);
});

test('one approval covers all rounds of a call, and its proposer is asked', withModern, async (t) => {
  const ann = await room.seat('ann', ['mcp/*'], 'server');
  const call = await asked(t, room, 'cid', [ADA, ADA], { grants: [...PROPOSER_GRANTS, 'mcp/response:*'] });
  const answer = call(2);
  const { envelope } = await ann.participant.until(({ kind }) => kind.startsWith('mcp/proposal:'), 'one');
  const { raw } = await ann.answer(ann.write(JSON.stringify({ jsonrpc: '2.0', id: 1, ...envelope.payload }),
    { correlation_id: envelope.id }));
  assert.match(raw, /accept Ada,accept Ada/);
  assert.equal(await answer, 'accept Ada,accept Ada');
});
