/*
 * The story: servers of the protocol of 2026-07-28 know no initialize and want a version with
 * every request; clients of 2025 know only initialize. At a table both must understand each other.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startImport } from './lib/import.mjs';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { rpc, Seat } from './lib/wire.mjs';

const COMMAND = [process.execPath, fileURLToPath(new URL('lib/modern_server.mjs', import.meta.url))];
const NEW_ENOUGH = Number(process.versions.node.split('.')[0]) >= 20;
const options = NEW_ENOUGH ? {} : { skip: `the SDK's second generation wants Node 20, this is ${
  process.versions.node}: NO server of 2026-07-28 is tested` };
if (!NEW_ENOUGH) process.stderr.write(`SKIPPED: ${options.skip}\n`);

const router = await Router.startFor({ after });

async function modern(t) {
  const room = new Room(t, router);
  const bridge = await startImport(t, router, room.topic, 'server', COMMAND);
  return { room, bridge, ann: new Seat(await room.join('ann', ['mcp/*']), 'server') };
}

test('clients of both times get to know it', options, async (t) => {
  const { ann } = await modern(t);
  const { result } = JSON.parse(await ann.call(rpc(1, 'initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } })));
  assert.deepEqual(result, { protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'modern', version: '1.0.0' }, instructions: 'Add.' });
  const found = JSON.parse(await ann.call(rpc(2, 'server/discover')));
  assert.deepEqual(found.result.supportedVersions, ['2026-07-28']);
});

test('a change of its list is told to everybody', options, async (t) => {
  const { ann } = await modern(t);
  await ann.call(rpc(1, 'tools/call', { name: 'grow', arguments: {} }));
  const { envelope } = await ann.participant.until(
    (e) => e.kind === 'mcp/request:notifications/tools/list_changed', 'the news');
  assert.equal(envelope.to, undefined);
  const { result: { tools } } = JSON.parse(await ann.call(rpc(2, 'tools/list')));
  assert.ok(tools.some(({ name }) => name === 'grown'));
});
