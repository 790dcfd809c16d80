/*
 * The story: an agent reads a topic by room__wait and hands the place back each time. The router is
 * stopped and killed, a thousand messages come among others while its bridge is down, and it reads
 * each once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disk } from './lib/disk.mjs';
import { exposeClient, useRoom } from './lib/expose.mjs';
import { eventually } from './lib/router.mjs';
import { Writer } from './lib/witness.mjs';

test('wait misses nothing and repeats nothing, whoever is started anew', async (t) => {
  const disk = await Disk.make();
  let router = await disk.start();
  t.after(() => router.stop().finally(() => disk.remove()));
  const writer = new Writer('ann', 'room');
  await writer.join(router);
  const join = () => exposeClient(t, router, 'room', 'bob', { room: 'talk', grants: ['chat', 'mcp/*'] });
  let bob = await join();
  let { after } = await useRoom(bob, 'history');
  const again = async (how) => {
    await router[how]();
    router = await disk.start();
    await writer.join(router);
    writer.again();
  };
  const [said, heard] = [[], []];
  const behind = async () => {
    await bob.close();
    for (let n = 0; n < 1000; n += 1) said.push(writer.say('note') && writer.say('note') && writer.say('chat', 250));
    await writer.untilHeard();
    bob = await join();
  };
  for (const event of [behind, () => again('stop'), () => again('kill')]) {
    for (let n = 0; n < 40; n += 1) said.push(writer.say());
    await event();
    for (let pages = 0; heard.length < said.length; pages += 1) {
      if (pages === 50) await again('kill');
      /* While the router is not back, there is an error, and the place stays. */
      const next = await eventually(() => useRoom(bob, 'wait', { after }).catch(() => undefined), 'no answer');
      assert.equal(next.missed, false);
      heard.push(...next.messages.map(({ id }) => id));
      ({ after } = next);
    }
  }
  assert.deepEqual(heard, said);
});
