/*
 * The story: who issues tokens puts a new one in the place of the old, in the file that a program was
 * given. The program reads the file again when its token is not good any more, and comes back to its
 * place. What breaks for whom: an operator who changes a token has to restart every bridge, and a
 * reader of the topic has missed what was said meanwhile. A file that has no new token ends the
 * program, so that somebody is told.
 */
import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXPOSE_GRANTS } from './lib/expose.mjs';
import { exposeHttp, post, requestText } from './lib/expose_http.mjs';
import { folderFor } from './lib/folder.mjs';
import { Participant } from './lib/participant.mjs';
import { Program } from './lib/program.mjs';
import { ownServer } from './lib/room.mjs';
import { eventually, freePort, Router, sha256, signToken } from './lib/router.mjs';

const ECHO = ownServer('echo_server');
const SECRET = 'a secret that is long enough to be one, and only for this test';
const GRANTS = { files: ['mcp/response:*', 'mcp/request:notifications/*'], eye: ['chat'],
  ann: ['chat', 'mcp/*'], desk: EXPOSE_GRANTS, chief: ['admin/*'] };
const tokenOf = (id, number) => `token-${number}-of-${id}`;

/** `numbers`: which of its tokens a participant has; 1 where nothing is said. */
const configure = (numbers = {}) => ({ auth: { jwt: { secret: SECRET } },
  participants: Object.fromEntries(Object.entries(GRANTS).map(([id, grants]) => [id, { topics: ['*'], grants,
    token_sha256: sha256(tokenOf(id, numbers[id] ?? 1)) }])) });

async function start(t) {
  const router = await Router.start({ config: configure(), args: ['--listen', `127.0.0.1:${await freePort()}`] });
  let current = router;
  t.after(() => current.stop());
  const folder = folderFor(t);
  /** Puts a token in a file as those do who issue tokens: whole, in the place of the old one. */
  const put = (id, token) => {
    const path = join(folder, `${id}.token`);
    writeFileSync(`${path}.new`, `${token}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  };
  const where = ['--url', router.url, '--topic', 'room'];
  const watch = (file) => {
    const program = Program.start('mcpxctl', ['watch', '--json', ...where, '--token-file', file], { stdout: 'kept' });
    program.heard = () => program.output.split('\n').slice(0, -1).map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === 'chat').map(({ payload }) => payload.n);
    return program;
  };
  const bring = (file) => Program.start('mcpx-bridge', ['import', ...where, '--token-file', file, '--', ...ECHO]);
  const reload = async (numbers) => {
    writeFileSync(join(router.folder, 'router.json'), JSON.stringify(configure(numbers)));
    const answer = await router.request('POST', '/admin/reload', { token: tokenOf('chief', 1), body: {} });
    assert.equal(answer.status, 200, answer.text);
  };
  const restart = async (numbers) => {
    await router.stop();
    current = await Router.start({ config: configure(numbers), args: ['--listen', new URL(router.url).host] });
  };
  return { router, put, watch, bring, reload, restart };
}

const count = (text, pattern) => [...text.matchAll(pattern)].length;
const joinAnn = async (t, router) => {
  const ann = await Participant.join(router, { id: 'ann', topic: 'room', token: tokenOf('ann', 1) });
  t.after(() => ann.close());
  return ann;
};

/** Calls a tool of `files`; true when it has answered. */
async function works(ann) {
  const id = ann.send('mcp/request:tools/call:echo', { jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'here' } } }, { to: ['files'] });
  const { envelope } = await ann.until((heard) => heard.correlation_id === id, 'an answer');
  return envelope.from === 'files';
}

test('watch and bridge survive another token in their file, and nothing is missed', async (t) => {
  const { router, put, watch, bring, reload } = await start(t);
  const ann = await joinAnn(t, router);
  const eye = watch(put('eye', tokenOf('eye', 1))), files = bring(put('files', tokenOf('files', 1)));
  t.after(() => Promise.all([eye.kill(), files.stop()]));
  await eye.until(/joined room as eye/);
  await files.until(/is ready/);
  assert.equal(await works(ann), true);
  let sent = 0;
  const say = () => { for (let i = 0; i < 50; i++) ann.send('chat', { n: sent++ }); };
  for (let number = 2; number <= 3; number++) {
    say();
    put('eye', tokenOf('eye', number));
    put('files', tokenOf('files', number));
    const reloaded = reload({ eye: number, files: number });
    say();
    await reloaded;
    say();
    await eventually(() => count(eye.log, /joined room as eye/g) === number, () => `eye is not back: ${eye.log}`);
    await eventually(() => count(files.log, /joined as files/g) === number, () => `files is not back: ${files.log}`);
    assert.equal(await works(ann), true);
    say();
  }
  await eventually(() => eye.heard().length >= sent, () => `${eye.heard().length} of ${sent} heard`);
  assert.deepEqual(eye.heard(), Array.from({ length: sent }, (_, n) => n));
  assert.equal(count(files.log, /the token file has a new token/g), 2);
  assert.doesNotMatch(eye.log + files.log, /token-\d-of/);
});

test('expose goes on with another token, and each of its calls is answered', async (t) => {
  const { router, put, bring, reload, restart } = await start(t);
  const files = bring(put('files', tokenOf('files', 1)));
  t.after(() => files.stop());
  await files.until(/is ready/);
  const desk = await exposeHttp(t, router, 'room', 'desk', { token: '', options: ['--names', 'plain',
    '--token-file', put('desk', tokenOf('desk', 1))] });
  let asked = 0;
  const ask = () => Array.from({ length: 20 }, async () => {
    const text = `call ${asked += 1}`;
    const answer = await post(desk, requestText(asked, 'tools/call', { name: 'files__echo', arguments: { text } }));
    assert.equal(JSON.parse(answer.text).result?.content[0].text, text, `${answer.text}\n${desk.log}`);
  });
  const isBack = (times) => eventually(() => count(desk.log, /connected to the topic again/g) === times, () => desk.log);
  await Promise.all(ask());
  /* closed with 4005: its token is not accepted any more */
  let calls = ask();
  put('desk', tokenOf('desk', 2));
  await reload({ desk: 2 });
  calls.push(...ask());
  await isBack(1);
  assert.match(desk.log, /\(4005\); trying again/);
  await Promise.all([...calls, ...ask()]);
  /* refused with 401: by a router that was started with other tokens while it was away */
  put('desk', tokenOf('desk', 3));
  const restarted = restart({ desk: 3 });
  calls = ask();
  await restarted;
  await isBack(2);
  assert.match(desk.log, /\(1001\); trying again\n.*the token file has a new token/);
  await Promise.all([...calls, ...ask()]);
  assert.equal(count(desk.log, /the token file has a new token/g), 2);
  assert.doesNotMatch(desk.log, /token-\d-of/);
});

test('a signed token that ends is followed by the one that stands in its file by then', async (t) => {
  const { router, put, watch } = await start(t);
  const issue = (seconds) => signToken(SECRET, { participantId: 'guest', topic: 'room',
    capabilities: ['chat'], exp: Math.floor(Date.now() / 1000) + seconds });
  const guest = watch(put('guest', issue(3)));
  t.after(() => guest.kill());
  await guest.until(/joined room as guest/);
  put('guest', issue(3600));
  await guest.until(/joined room as guest[^]*joined room as guest/);
  const ann = await joinAnn(t, router);
  ann.send('chat', { n: 1 });
  await eventually(() => guest.heard().includes(1), 'guest hears what is said');
});

test('a file without another token ends its program, as does one that is gone', async (t) => {
  const { router, put, watch, bring, reload } = await start(t);
  const ann = await joinAnn(t, router);
  const eye = watch(put('eye', tokenOf('eye', 1))), files = bring(put('files', tokenOf('files', 1)));
  await eye.until(/joined room as eye/);
  await files.until(/is ready/);
  assert.equal(await works(ann), true);
  await reload({ eye: 2, files: 2 });
  const [watched, brought] = await Promise.all([eye.end(), files.end()]);
  assert.equal(watched.code, 1, eye.log);
  assert.match(eye.log, /the connection has ended: .*\(4005\)/);
  assert.equal(brought.code, 5, files.log);
  assert.match(files.log, /the token file has no other token/);
  const stranger = watch(put('eye', 'nobody-has-signed-this'));
  assert.equal((await stranger.end()).code, 5, stranger.log);
  const gone = put('eye', tokenOf('eye', 2)), last = watch(gone);
  await last.until(/joined room as eye/);
  rmSync(gone);
  await reload({ eye: 3 });
  assert.equal((await last.end()).code, 1, last.log);
});
