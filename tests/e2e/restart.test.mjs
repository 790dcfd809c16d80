/*
 * The story: the router is restarted, politely or not, while people and programs sit in its rooms.
 * What was proposed is still there to be decided, once; and who came with --as comes back
 * with a token of the new router, and waits for one that is not there yet.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exposeClient, exposePipe, PROPOSER_GRANTS, untilTools, useRoom } from './lib/expose.mjs';
import { IMPORT_GRANTS, readyImport } from './lib/import.mjs';
import { ends, mcpxctl, Program, programBinary } from './lib/program.mjs';
import { ownServer } from './lib/room.mjs';
import { eventually, freePort, people, Router, tokenOf } from './lib/router.mjs';
import { callOf, Pipe } from './lib/wire.mjs';

const ECHO = ownServer('echo_server');

const listen = (port) => ['--dev', '--listen', `127.0.0.1:${port}`];

/** mcpxctl that reads; its words and what it printed. */
const ctl = (url, id, ...words) => mcpxctl(words,
  { env: { MCPX_URL: url, MCPX_TOPIC: 'room', MCPX_TOKEN: tokenOf(id) } });

for (const how of ['stop', 'kill']) {
  test(`a proposal outlives a router that is ${how === 'stop' ? 'stopped' : 'killed'}`, async (t) => {
    const config = { participants: people({ files: IMPORT_GRANTS, desk: PROPOSER_GRANTS,
      eye: ['chat'], ann: ['mcp/*'], judge: ['mcp/*'] }) };
    const port = await freePort();
    const first = await Router.start({ config, args: listen(port) });
    const bridge = await readyImport(t, first, 'room', 'files', ECHO, { token: tokenOf('files') });
    const eye = Program.start('mcpxctl', ['watch', '--json', '--url', first.url, '--topic', 'room'], {
      env: { MCPX_TOKEN: tokenOf('eye') }, stdout: 'kept' });
    t.after(() => eye.kill());
    await eye.until(/joined/);
    const pipe = await exposePipe(t, first, 'room', 'desk', { token: tokenOf('desk') });
    await untilTools(pipe, 'files__echo');
    const judge = await exposeClient(t, first, 'room', 'judge', { room: 'decide', token: tokenOf('judge') });
    const answer = pipe.ask(callOf(1, 'files__echo', { text: 'signed' }));
    const [seen] = await eye.says(/^.*"mcp\/proposal.*\n/m);
    await first[how]();
    await eye.until(/not connected any more/);
    const second = await Router.startFor(t, { config, args: listen(port) });
    const proposed = async () => {
      const { stdout } = await ctl(second.url, 'ann', 'proposals', '--json');
      return stdout ? JSON.parse(stdout) : undefined;
    };
    const { id } = await eventually(proposed, 'the proposal is not open');
    assert.equal(id, JSON.parse(seen).id, 'under the same id');
    await eventually(async () => (await useRoom(judge, 'proposals')).messages[0]?.id === id, 'the room lost it');
    await eye.until(/joined[^]*joined/);
    await bridge.until(/joined as[^]*joined as/);
    const { stderr } = await ctl(second.url, 'ann', 'approve', id, '--yes');
    const [, listed] = /approve (\S+@\S+) --yes/.exec(stderr);
    await ends(ctl(second.url, 'ann', 'approve', listed, '--yes'));
    assert.equal((await answer).result.content[0].text, 'signed');
    await eye.says(/mcp\/response:tools\/call/);
    assert.equal(eye.output.match(/"mcp\/proposal/g).length, 1, 'once');
  });
}

test('--as waits for a router that starts later, and comes back after a restart', async (t) => {
  const port = await freePort();
  const url = `ws://127.0.0.1:${port}/ws`;
  const where = ['--url', url, '--topic', 'room'];
  const bridge = Program.start('mcpx-bridge', ['import', ...where, '--as', 'files', '--', ...ECHO]);
  t.after(() => bridge.stop());
  const eye = Program.start('mcpxctl', ['watch', ...where, '--as', 'eye']);
  t.after(() => eye.kill());
  const desk = Pipe.open(programBinary('mcpx-bridge'), ['expose', ...where, '--as', 'desk']);
  await bridge.until(/import: waiting for the router/);
  await eye.until(/watch: waiting for the router/);
  let router = await Router.start({ args: listen(port) });
  const pipe = await desk;
  t.after(() => pipe.close());
  await bridge.until(/joined as files/);
  await eye.until(/joined room as eye/);
  let id = 0;
  const works = (which) => eventually(async () => {
    id += 1;
    return (await pipe.ask(callOf(id, 'files__echo', { text: 'here' }))).result;
  }, `no answer through the ${which} router`);
  await works('first');
  await router.stop();
  router = await Router.start({ args: listen(port) });
  t.after(() => router.stop());
  await bridge.until(/joined as files[^]*a new token[^]*joined as files/);
  await eye.until(/joined room as eye[^]*joined room as eye/);
  await works('second');
});

test('--as ends when the router gives no tokens any more', async (t) => {
  const port = await freePort();
  const first = await Router.start({ args: listen(port) });
  const bridge = Program.start('mcpx-bridge', ['import', '--url', first.url, '--topic', 'room',
    '--as', 'files', '--', ...ECHO]);
  await bridge.until(/joined as files/);
  await first.stop();
  const second = await Router.startFor(t, { config: { participants: people({ ann: ['chat'] }) },
    args: ['--listen', `127.0.0.1:${port}`] });
  assert.equal((await bridge.end()).code, 5);
  assert.match(bridge.log, /gives no tokens/);
});
