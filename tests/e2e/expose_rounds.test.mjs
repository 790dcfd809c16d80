/*
 * The story: a client of 2026-07-28 takes no requests, and a server of 2025-11-25 has no other way to
 * ask. By HTTP neither should notice either, and a call that wants an address visited is made again.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { exposeHttp } from './lib/expose_http.mjs';
import { startImport } from './lib/import.mjs';
import { matrixServer } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

test('a server of the older protocol asks a modern client by HTTP', async (t) => {
  await startImport(t, router, 'rounds', 'server', matrixServer(1));
  const { url } = await exposeHttp(t, router, 'rounds', 'desk', { options: ['--names', 'plain'] });
  const client = new Client({ name: 'modern', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } },
    capabilities: { elicitation: { form: {}, url: {} } } });
  const answers = [];
  client.setRequestHandler('elicitation/create', () => answers.shift());
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  t.after(() => client.close());
  const call = async (name, args, ...actions) => {
    answers.push(...actions.map((action) => ({ action, ...action === 'accept' && { content: { name: 'Ada' } } })));
    return (await client.callTool({ name, arguments: args })).content[0].text;
  };
  await eventually(async () => (await client.listTools()).tools.some(({ name }) => name === 'ask'), 'no tools');
  assert.equal(await call('ask', { times: 2 }, 'accept', 'cancel'), 'accept Ada,cancel undefined');
  assert.equal(await call('visit', {}, 'accept'), 'visit');
  await assert.rejects(call('visit', {}, 'decline'));
  assert.deepEqual(answers, []);
});
