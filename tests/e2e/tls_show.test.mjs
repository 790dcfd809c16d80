/*
 * What breaks for whom: somebody whose only proof is a certificate cannot use our programs; a program
 * that runs for months is locked out when its first certificate ends or is revoked, although it was
 * renewed, or tries for ever with one that nobody takes any more; a wrong file is told as "cannot
 * connect", or the terminal is asked for a passphrase.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Certificates } from './lib/certificates.mjs';
import { ends, mcpxctl, Program } from './lib/program.mjs';
import { relayTo } from './lib/relay.mjs';
import { ownServer } from './lib/room.mjs';
import { eventually, person as entry, Router } from './lib/router.mjs';

const person = (id) => entry(id, ['chat', 'mcp/*'], { topics: ['room*'] });

async function start(t) {
  const certificates = new Certificates(t).make('ca', { cn: 'authority', san: '', authority: true })
    .make('other', { cn: 'stranger', san: '', authority: true }).make('live', { by: 'ca' })
    .make('ann', { by: 'ca', cn: 'ann' }).make('bob', { by: 'ca', cn: 'bob' })
    .make('nobody', { by: 'ca', cn: 'nobody' }).make('wrong', { by: 'other', cn: 'ann' })
    .revoke('live.crl', []);
  const path = (name) => certificates.path(name);
  const router = await Router.startFor(t, {
    config: { participants: { ann: person('ann'), bob: person('bob') },
      tls: certificates.settings({ clients: { 'cn:ann': 'ann', 'cn:bob': 'bob' }, crl: true }) },
    args: ['--listen', 'tls://127.0.0.1:0'],
  });
  router.port = new URL(router.urls[0]).port;
  /** The words by which a program comes in with this certificate. */
  router.as = (name, port = router.port) => ['--url', `wss://localhost:${port}`, '--topic', 'room',
    '--ca-file', path('ca.pem'), ...(name ? ['--cert-file', path(`${name}.pem`), '--key-file', path(`${name}.key`)] : [])];
  return { router, certificates };
}

const ctl = (...words) => mcpxctl(words);

test('a certificate replaces a token, for WebSocket and HTTP', async (t) => {
  const { router, certificates } = await start(t);
  for (const words of [['say', 'hello'], ['status'], ['history']]) {
    const { stdout, stderr } = await ends(ctl(...words, ...router.as('ann')));
    assert.equal(stderr, '');
    if (words[0] === 'history') assert.match(stdout, /ann.*hello/);
  }
  writeFileSync(certificates.path('both.pem'), certificates.text('ann.pem') + certificates.text('ann.key'), { mode: 0o600 });
  const alone = await ctl('say', 'hello', ...router.as(), '--cert-file', certificates.path('both.pem'));
  assert.deepEqual([alone.code, alone.stderr], [0, '']);
  chmodSync(certificates.path('ann.key'), 0o644);
  assert.match((await ctl('say', 'hello', ...router.as('ann'))).stderr,
    /warning: other users can read \S+ann\.key; use chmod 600/);
});

test('a bridge seats a server at several topics with a certificate', async (t) => {
  const { router } = await start(t);
  const bridge = Program.start('mcpx-bridge',
    ['import', ...router.as('bob'), '--topic', 'room2', '--', ...ownServer('echo_server')]);
  t.after(() => bridge.stop());
  await eventually(() => (router.log.match(/event=admitted .*participant="bob"/g) ?? []).length === 2,
    () => `not seated in\n${router.log}`);
});

test('who is refused is told why', async (t) => {
  const { router } = await start(t);
  for (const [name, words, code, reason] of [
    ['wrong', ['say', 'hello'], 5, /the router refuses the certificate that it was shown: unknown CA/],
    ['wrong', ['status'], 5, /the router refuses the certificate that it was shown: .*alert unknown ca/],
    ['nobody', ['say', 'hello'], 5, /401|nauthorized|token/],
    [undefined, ['say', 'hello'], 2, /a token is needed: .*; or a certificate: --cert-file FILE/],
  ]) {
    const told = await ends(ctl(...words, ...router.as(name)), code, reason);
  }
  await eventually(() => /event=refused .*reason="no name of its certificate stands/.test(router.log), 'no line');
});

test('files that cannot be shown are named with the reason, and nobody is asked', async (t) => {
  const { router, certificates } = await start(t);
  const path = (name) => certificates.path(name);
  execFileSync('openssl', ['ec', '-in', path('ann.key'), '-aes128', '-passout', 'pass:x', '-out', path('locked.key')],
    { stdio: 'pipe' });
  for (const [words, reason] of [
    [['--cert-file', path('none.pem'), '--key-file', path('ann.key')], /none\.pem: No such file or directory/],
    [['--cert-file', path('ann.key'), '--key-file', path('ann.key')], /ann\.key: no start line/],
    [['--cert-file', path('ann.pem'), '--key-file', path('bob.key')], /bob\.key: it does not belong to the certificate/],
    [['--cert-file', path('ann.pem')], /ann\.pem: no key in PEM form was found/],
    [['--cert-file', path('ann.pem'), '--key-file', path('locked.key')], /locked\.key: it is protected by a passphrase/],
    [['--key-file', path('ann.key')], /--key-file needs --cert-file beside it/],
    [['--cert-file', path('ann.pem'), '--key-file', path('ann.key'), '--url', 'ws://localhost:1'],
      /--cert-file can be shown under TLS only; --url needs wss:\/\//],
  ]) {
    const told = await ends(ctl('say', 'hello', ...router.as().filter((word, i, all) => !words.includes('--url')
      || (word !== '--url' && all[i - 1] !== '--url')), ...words), 2, reason);
    assert.equal(told.stderr.trim().split('\n').length, 1, told.stderr);
  }
});

test('a certificate that was renewed is shown by the next connection', async (t) => {
  const { router, certificates } = await start(t);
  const relay = await relayTo(t, router.port);
  certificates.become('ann', 'mine');
  const watch = Program.start('mcpxctl', ['watch', ...router.as('mine', relay.port)],
    { stdout: 'kept' });
  t.after(() => watch.kill());
  const admitted = (times) => eventually(() => (router.log.match(/event=admitted .*ann/g) ?? []).length === times,
    () => `not admitted ${times} times in\n${router.log}\n${watch.log}`);
  await admitted(1);
  certificates.make('next', { by: 'ca', cn: 'ann' }).become('next', 'mine');
  relay.cut();
  await admitted(2);
  certificates.revoke('live.crl', ['ann']); /* who shows the first one is sent away for good */
  await eventually(() => /event=tls_files_read/.test(router.log), 'not read');
  assert.equal((await ctl('say', 'after all', ...router.as('bob'))).code, 0);
  await watch.says(/after all/);
});

/** Two programs that stay: who watches with ann's certificate, and a server with bob's. */
async function stay(t, router, certificates) {
  for (const name of ['ann', 'bob']) certificates.become(name, `file-of-${name}`);
  const eye = Program.start('mcpxctl', ['watch', ...router.as('file-of-ann')]);
  const files = Program.start('mcpx-bridge',
    ['import', ...router.as('file-of-bob'), '--', ...ownServer('echo_server')]);
  t.after(() => Promise.all([eye, files].map((program) => { program.kill(); return program.end(); })));
  const joined = (times) => eventually(() => (eye.log.match(/joined room as ann/g) ?? []).length === times
    && (files.log.match(/joined as bob/g) ?? []).length === times, () => `${eye.log}${files.log}\n${router.log}`);
  await joined(1);
  return { eye, files, joined };
}

test('who is sent away with 4005 comes back by the certificate that stands in its file by then', async (t) => {
  const { router, certificates } = await start(t);
  const { eye, files, joined } = await stay(t, router, certificates);
  for (const name of ['ann', 'bob']) {
    certificates.make(`next-${name}`, { by: 'ca', cn: name }).become(`next-${name}`, `file-of-${name}`);
  }
  certificates.revoke('live.crl', ['ann', 'bob']);
  await joined(2);
  assert.match(eye.log, /not connected any more: .*file-of-ann\.pem: it has another certificate now \(.*\); trying again/);
  assert.match(files.log, /file-of-bob\.pem: it has another certificate now/);
  certificates.revoke('live.crl', ['ann', 'bob', 'next-ann', 'next-bob']);
  assert.equal((await eye.end()).code, 1, eye.log);
  assert.notEqual((await files.end()).code, 0, files.log);
});

test('without another certificate 4005 is the end, and the file at fault is named', async (t) => {
  const { router, certificates } = await start(t);
  const { eye, files } = await stay(t, router, certificates);
  writeFileSync(certificates.path('file-of-bob.key'), 'half a key');
  certificates.revoke('live.crl', ['ann', 'bob']);
  assert.equal((await eye.end()).code, 1, eye.log);
  assert.match(eye.log,
    /ended: .*file-of-ann\.pem: it still has the certificate that was refused; expected a renewed one.* \(4005\)/);
  assert.notEqual((await files.end()).code, 0, files.log);
  assert.match(files.log, /file-of-bob\.key: no key in PEM form was found/);
});
