/*
 * The story: an agent reads a topic by room__wait and hands the place back each time. Its bridge is
 * started anew, the router is stopped and killed, and of a thousand messages it reads each once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disk } from './lib/disk.mjs';
import { exposeClient, useRoom } from './lib/expose.mjs';
import { eventually } from './lib/router.mjs';
import { Writer } from './lib/witness.mjs';

const MESSAGES = 1000;
const AT_ONCE = 40;

test('wait misses nothing and repeats nothing, whoever is started anew', async (t) => {
  const disk = await Disk.make();
  let router = await disk.start();
  t.after(() => router.stop().finally(() => disk.remove()));
  const writer = new Writer('ann', 'room');
  await writer.join(router);
  const join = () => exposeClient(t, router, 'room', 'bob', { room: 'talk', grants: ['chat', 'mcp/*'] });
  let bob = await join();
  let { after } = await useRoom(bob, 'history');
  const again = (how) => async () => {
    await router[how]();
    router = await disk.start();
    await writer.join(router);
    writer.again();
  };
  const events = { 5: again('stop'), 10: again('kill'), 15: async () => { await bob.close(); bob = await join(); } };
  const said = [];
  const heard = [];
  for (let turn = 0; said.length < MESSAGES; turn += 1) {
    for (let n = 0; n < AT_ONCE; n += 1) said.push(writer.say());
    await events[turn]?.();
    while (heard.length < said.length) {
      /* While the router is not back, there is an error, and the place stays. */
      const next = await eventually(() => useRoom(bob, 'wait', { after }).catch(() => undefined), 'no answer');
      assert.equal(next.missed, false);
      heard.push(...next.messages.map(({ id }) => id));
      ({ after } = next);
    }
  }
  assert.deepEqual(heard, said);
});
