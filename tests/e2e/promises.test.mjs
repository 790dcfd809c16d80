/*
 * The story: a person gives an unmodified client a room, and what docs/bridge-expose.md promises
 * is all that stands between an allowed `delete` and somebody else's. Each promise is kept to a
 * client of either generation of the official SDK.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { exposeCommand, GENERATIONS } from './lib/expose.mjs';
import { readyImport } from './lib/import.mjs';
import { ownServer } from './lib/room.mjs';
import { eventually, inTime, Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

/** A room with these servers, NAME: SORT, and a client of a generation behind an expose. */
async function room(t, generation, servers, ...options) {
  const topic = `room-${randomUUID()}`;
  const bridges = {};
  for (const [name, sort] of Object.entries(servers)) {
    bridges[name] = await readyImport(t, router, topic, name, ownServer('odd_server', name, sort));
  }
  const [Kind, Transport] = GENERATIONS[generation];
  const transport = new Transport({ ...await exposeCommand(router, topic, 'desk', { options }), stderr: 'pipe' });
  const client = new Kind({ name: 'desk', version: '1' }, { capabilities: {} });
  client.log = '';
  transport.stderr.setEncoding('utf8').on('data', (text) => { client.log += text; });
  await inTime(client.connect(transport), () => `no session\n${client.log}`);
  t.after(() => client.close());
  client.names = async () => (await client.listTools()).tools.map(({ name }) => name).sort();
  client.until = (...names) => eventually(async () => {
    const found = await client.names();
    return names.every((name) => found.includes(name)) && found;
  }, () => `not ${names}\n${client.log}`);
  client.said = (pattern) => eventually(() => pattern.test(client.log), () => `not said: ${pattern}\n${client.log}`);
  client.hears = async (name) => (await client.callTool({ name, arguments: {} })).content[0].text;
  return { client, bridges };
}

for (const generation of Object.keys(GENERATIONS)) {
  test(`${generation}: a name or URI that two have is neither's, and the bare one names both`, async (t) => {
    const { client } = await room(t, generation, { ann: 'twin', bob: 'twin', eve: 'well' }, '--names', 'plain');
    assert.deepEqual(await client.until('ann__delete', 'bob__delete', 'work'), ['ann__delete', 'bob__delete', 'work']);
    for (const name of ['ann', 'bob']) {
      assert.equal(await client.hears(`${name}__delete`), name);
      const { contents } = await client.readResource({ uri: `mcpx://${name}/file%3A%2F%2F%2Fshared` });
      assert.equal(contents[0].text, name);
    }
    await assert.rejects(client.callTool({ name: 'delete', arguments: {} }), /ann.*bob/);
    await assert.rejects(client.readResource({ uri: 'file:///shared' }), /ann.*bob/);
  });

  test(`${generation}: an entry that clients refuse takes no other away, and is named`, async (t) => {
    const { client } = await room(t, generation, { ann: 'unfit', bob: 'well' });
    assert.deepEqual(await client.until('ann__fit', 'bob__work'), ['ann__fit', 'bob__work']);
    assert.equal(await client.hears('ann__fit'), 'ann');
    await client.said(/ann.*tools/);
  });

  test(`${generation}: a server that fails is named with its reason, and is no empty one`, async (t) => {
    const { client, bridges } = await room(t, generation, { ann: 'ill', bob: 'well' });
    assert.deepEqual(await client.until('bob__work'), ['bob__work']);
    await client.said(/ann.*ann is ill/);
    assert.equal(await client.hears('bob__work'), 'bob');
    await bridges.bob.stop();
    await eventually(async () => client.names().then(() => false, ({ message }) => /ann|list/.test(message)),
      () => `where nobody's list is known, there is none\n${client.log}`);
  });

  test(`${generation}: who called a server that ends hears why, and it is back`, async (t) => {
    const { client } = await room(t, generation, { ann: 'leaving', bob: 'well' });
    await client.until('ann__leave', 'bob__work');
    await assert.rejects(client.hears('ann__leave'), /the server is gone: .*3/);
    assert.equal(await client.hears('bob__work'), 'bob');
    await client.until('ann__leave', 'bob__work');
  });
}
