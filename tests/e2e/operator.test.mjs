/*
 * The story: an operator asks why something would be refused before anybody tries it, and stops
 * the router while people are talking. Protocol: sections 6 (decision, 1001) and 8 (check).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

let router;
before(async () => { router = await Router.start(); });
after(() => router?.stop());

test('a decision can be asked for, with its reasons, before anything is sent', async (t) => {
  const room = new Room(t, router);
  const token = await router.token('operator', room.topic, ['admin/*']);
  const check = async (capabilities, kind) => {
    const { status, json, text } = await router.request('POST', '/v0.1/check',
      { token, body: { capabilities, kind } });
    assert.equal(status, 200, text);
    return json;
  };
  const no = await check(['mcp/request:tools/call:read_*', 'mcp/proposal:*'],
    'mcp/request:tools/call:write_file');
  assert.equal(no.reason, 'no_matching_grant');
  assert.equal(no.nearest, 'mcp/request:tools/call:read_*');
  assert.equal(no.would_allow, 'mcp/request:tools/call:write_file');
  assert.equal(no.alternative, 'mcp/proposal:tools/call:write_file');
  const yes = await check(['mcp/request:tools/call:read_*'], 'mcp/request:tools/call:read_file');
  assert.equal('would_allow' in yes && yes.would_allow !== null, false);
});

test('a router that is stopped says goodbye with 1001 and ends well', async (t) => {
  const brief = await Router.start();
  const room = new Room(t, brief);
  const one = await room.join('one', ['chat']);
  const two = await room.join('two', ['chat'], { query: { routing: 'directed' } });
  const id = one.send('chat', { text: 'last words' });
  await Promise.all([one, two].map((each) => each.untilId(id)));
  await brief.stop();
  assert.equal((await one.untilClosed()).code, 1001);
  assert.equal((await two.untilClosed()).code, 1001);
});
