/*
 * The story: some tools only work as tasks, and a task holds somebody's work. A client without
 * tasks must be able to call them, at servers of either protocol; nobody may read or end another's
 * task.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startImport } from './lib/import.mjs';
import { matrixServer, Room, withModern } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { rpc, Seat } from './lib/wire.mjs';

const CALL = { name: 'job_only', arguments: {} };
const META = 'io.modelcontextprotocol/';
const MODERN = { [`${META}protocolVersion`]: '2026-07-28',
  [`${META}clientCapabilities`]: { extensions: { [`${META}tasks`]: {} } } };
const router = await Router.startFor({ after });

for (const [generation, params, options] of [[1, { task: {} }, {}], [2, { _meta: MODERN }, withModern]]) {
  test(`server ${generation}: a task belongs to who began it, and is made for who has none`, options, async (t) => {
    const room = new Room(t, router);
    await startImport(t, router, room.topic, 'server', matrixServer(generation));
    const [ann, mallory] = await Promise.all(['ann', 'mallory'].map((id) => room.seat(id, ['mcp/*'], 'server')));
    let id = 0;
    const ask = async (seat, method, more) =>
      JSON.parse(await seat.call(rpc(`r${++id}`, method, { ...params, ...more })));
    await ask(ann, 'tools/list');
    const { result } = await ask(ann, 'tools/call', CALL);
    const { taskId } = result.task ?? result;
    for (const method of ['tasks/get', 'tasks/result', 'tasks/update', 'tasks/cancel']) {
      const foreign = await ask(mallory, method, { taskId });
      assert.equal(foreign.error.code, -32602);
      assert.deepEqual(foreign.error, (await ask(mallory, method, { taskId: 'never' })).error);
    }
    assert.equal((await ask(ann, 'tasks/get', { taskId })).result.status, 'working');
    await ask(ann, 'tasks/cancel', { taskId });
    assert.equal((await ask(ann, 'tasks/get', { taskId })).result.status, 'cancelled');

    const plain = (name, args = {}) => mallory.call(rpc(name, 'tools/call', { name, arguments: args }));
    await plain('until', { what: 'working' });
    const made = plain(CALL.name);
    await plain('until', { what: 'working' });
    await plain('finish');
    assert.match(await made, /the work is done/);
  });
}
