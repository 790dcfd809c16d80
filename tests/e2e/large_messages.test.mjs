/*
 * The story: a tool makes a screenshot. What fits into the pipe of its server has to fit through the
 * room, and what does not fit is an error for whoever asked, never silence and never a lost connection.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { exposePipe, untilTools } from './lib/expose.mjs';
import { readyImport } from './lib/import.mjs';
import { picture } from './lib/picture_server.mjs';
import { ownServer, Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';
import { callOf } from './lib/wire.mjs';

const SERVER = ownServer('picture_server', 'serve');

const router = await Router.startFor({ after });

/** A room with the server in it; `open(id)` gives a client's pipe. */
async function gallery(t, { at = router, options = [] } = {}) {
  const topic = `room-${randomUUID()}`;
  const bridge = await readyImport(t, at, topic, 'camera', SERVER, { options });
  const open = async (id) => {
    const pipe = await exposePipe(t, at, topic, id, { options: ['--names', 'plain'] });
    await untilTools(pipe, 'picture');
    return pipe;
  };
  return { topic, bridge, open };
}

const call = (id, args) => callOf(id, 'picture', args);

test('a picture of 5 MB passes import, room and expose', async (t) => {
  const { open } = await gallery(t);
  const pipe = await open('desk');
  const { result } = await pipe.ask(call(1, { bytes: 5000000 }));
  assert.ok(result.content[0].data === picture(5000000), 'every byte');
});

test('a larger one is an error for who asked, with size, limit and setting', async (t) => {
  const { bridge, open } = await gallery(t);
  const [ann, bob] = [await open('ann'), await open('bob')];
  const [refused, small] = await Promise.all([ann.ask(call(1, { bytes: 7000000 })),
    bob.ask(call(1, { bytes: 3 }))]);
  assert.equal(small.result.content[0].data, picture(3));
  assert.equal(refused.id, 1);
  assert.equal(refused.error.code, -31000);
  assert.match(refused.error.message,
    /the answer of 93\d{5} bytes does not fit, .* at most 8388608 bytes .*limits\.message_bytes/);
  assert.equal(refused.error.data.limit, 8388608);
  assert.equal(refused.error.data.setting, 'limits.message_bytes');
  assert.equal((await ann.ask(call(2, { bytes: 3 }))).id, 2);
  assert.equal(bridge.log.match(/joined as/g).length, 1, 'the connection held');
});

test('a request that does not fit is an error as well', async (t) => {
  const { open } = await gallery(t);
  const pipe = await open('desk');
  const { error } = await pipe.ask(call(1, { bytes: 3, more: 'x'.repeat(9000000) }));
  assert.match(error.message,
    /could not be sent: .* of 9000\d{3} bytes .* at most 8388608 bytes .*limits\.message_bytes/);
  assert.ok((await pipe.ask(call(2, { bytes: 3 }))).result);
});

test('an answer that the bridge cannot read is an error for who asked', async (t) => {
  const { open } = await gallery(t, { options: ['--line-max', '100000'] });
  const pipe = await open('desk');
  for (const last of [false, true]) {
    const { error } = await pipe.ask(call(`${last}`, { bytes: 200000, last }));
    assert.match(error.message, /longer than the bridge reads \(its option --line-max\)/);
  }
  const [refused, small] = await Promise.all([pipe.ask(call(3, { bytes: 200000 })),
    pipe.ask(call(4, { bytes: 3 }))]);
  assert.match(refused.error.message, /--line-max/);
  assert.ok(small.result);
});

test('history has the large ones, page by page', async (t) => {
  const { topic, open } = await gallery(t);
  const pipe = await open('desk');
  for (const id of [1, 2, 3]) await pipe.call(call(id, { bytes: 5000000 }));
  const { stdout } = await new Room(t, router, topic).ctl('eye', ['chat'], 'history', '--json', '--limit', '1000');
  const large = stdout.trim().split('\n').map((line) => JSON.parse(line))
    .filter(({ payload }) => payload.result?.content?.[0].data === picture(5000000));
  assert.equal(large.length, 3);
});

test('a router that takes more than 64 MiB disconnects nobody with it', async (t) => {
  const bytes = 52000000;
  const wide = await Router.startFor(t, { args: ['--dev'], config: {
    limits: { message_bytes: 1 << 27, backlog_bytes: 1 << 28 },
    topics: { history: { bytes: 1 << 27 } } } });
  const { open } = await gallery(t, { at: wide, options: ['--line-max', `${1 << 27}`] });
  const pipe = await open('desk');
  const { result } = await pipe.ask(call(1, { bytes }));
  assert.equal(result?.content[0].data.length, Math.ceil(bytes / 3) * 4);
});
