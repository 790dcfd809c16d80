/*
 * The story: some tools only work as tasks, and a task holds somebody's work. A client without tasks must
 * be able to call them, at servers of either protocol; nobody may read or end another's task.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exposeCommand, PROPOSER_GRANTS } from './lib/expose.mjs';
import { importRoom, startImport } from './lib/import.mjs';
import { matrixServer, Room, withModern } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';
import { rpc, Seat } from './lib/wire.mjs';
import { First, Second } from './matrix/clients.mjs';

const CALL = { name: 'job_only', arguments: {} };
const router = await Router.startFor({ after });

for (const [generation, params, options] of [[1, { task: {} }, {}], [2, { _meta: Second.ENVELOPE }, withModern]]) {
  test(`server ${generation}: a task belongs to who began it, and is made for who has none`, options, async (t) => {
    const { seats: [ann, mallory] } = await importRoom(t, router, matrixServer(generation), ['ann', 'mallory']);
    let id = 0;
    const ask = (seat, method, more) => seat.ask(rpc(`r${++id}`, method, { ...params, ...more }));
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

for (const [generation, Client] of Object.entries({ 1: First, 2: Second })) {
  test(`client ${generation}: an approval is waited for as a task, beyond the bridge's end`, withModern, async (t) => {
    const room = new Room(t, router);
    await room.everything();
    const boss = await room.join('boss', ['mcp/request:*', 'mcp/reject', 'chat']);
    const connect = async (id) => Client.connect(
      t, await exposeCommand(router, room.topic, id, { room: 'talk', grants: PROPOSER_GRANTS }), 'everything__');
    let ann = await connect('ann');
    const about = (method, { taskId }, who = ann) => who.raw(`tasks/${method}`, { taskId });
    /* The first asks for a task of itself, where the list permits that. */
    const begin = async (params) => generation === '2' ? ann.raw('tools/call', params)
      : (await ann.sdk.experimental.tasks.callToolStream(params).next()).value.task;
    const echo = (message) => begin(ann.params('echo', { message }));
    const proposed = async ({ taskId }) => (await boss.until((e) => e.id === taskId, 'the proposal')).envelope;
    const approve = async (task) => {
      const { id, payload, to } = await proposed(task);
      assert.doesNotMatch(JSON.stringify(payload), /"task"|\/tasks/);
      boss.send('mcp/request:tools/call:echo', { jsonrpc: '2.0', id: 1, ...payload }, { to, correlation_id: id });
    };
    const reject = async (task) => boss.send('mcp/reject', { reason: 'never' },
      { to: [...(await proposed(task)).to, 'ann'], correlation_id: task.taskId });
    const over = (id) => eventually(async () => [await about('get', id)].find((at) => at.status !== 'working'), 'late');
    const result = async (task) => JSON.stringify((await over(task)).result ?? await about('result', task));

    const waiting = await begin({ name: 'room__wait', arguments: {} });
    const [first, second, third] = [await echo('one'), await echo('two'), await echo('three')];
    assert.equal(first.statusMessage, "waiting for approval of tools/call 'echo' to 'everything' by 'boss'");
    boss.send('chat', { text: 'go on' }, { to: ['ann'] });
    assert.match(await result(waiting), /"text":"go on"/);
    const waits = generation === '1' && about('result', first);
    await Promise.all([approve(first), reject(second), about('cancel', third)]);
    assert.match(JSON.stringify(await waits) + await result(first), /Echo: one/);
    assert.match(await result(second), /did not run: never.*"isError":true/);
    await boss.until((e) => e.kind === 'mcp/withdraw' && e.correlation_id === third.taskId, 'the withdrawal');
    assert.equal((await over(third)).status, 'cancelled');

    const [fourth, fifth] = [await echo('four'), await echo('five')];
    await ann.sdk.close();
    ann = await connect('ann');
    await assert.rejects(about('get', waiting), { code: -32602, message: /started anew/ });
    assert.equal((await about('get', fourth)).status, 'working');
    await Promise.all([approve(fourth), reject(fifth)]);
    assert.match(await result(fourth), /Echo: four/);
    assert.match(await result(fifth), /did not run: never.*"isError":true/);
    await assert.rejects(about('get', fourth, await connect('mallory')), { code: -32602 });
  });
}
