/*
 * What breaks for whom: everybody in all rooms, while the revocation list of a large authority is read;
 * an operator whose authority brings its next list early, and who is woken for the one before.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { renameSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Certificates } from './lib/certificates.mjs';
import { watchEchoes } from './lib/echo_watch.mjs';
import { Participant } from './lib/participant.mjs';
import { eventually, Router, routerBinary, sha256 } from './lib/router.mjs';

const TOKEN = 'token-of-watcher-0123456789';
const LARGE = 300000;

/** A router with a plain address and one with TLS, where certificates of `ca` come in as "desk". */
async function start(t) {
  const certificates = new Certificates(t).make('ca', { cn: 'authority', san: '', authority: true })
    .make('live', { by: 'ca' }).revoke('live.crl', []);
  const router = await Router.startFor(t, {
    config: {
      limits: { connects_per_s: 0, joins_per_minute: 0, messages_per_minute: 0, bytes_per_minute: 0,
        requests_per_minute: 0, connections_per_participant: 0 },
      participants: { desk: { token_sha256: sha256(`${TOKEN}-desk`), topics: ['room*'], grants: ['chat'] },
        watcher: { token_sha256: sha256(TOKEN), topics: ['watched'], grants: ['chat'] } },
      tls: certificates.settings({ clients: { 'dns:desk': 'desk' }, crl: true }),
    },
    args: ['--listen', '127.0.0.1:0', '--listen', 'tls://127.0.0.1:0'],
  });
  const lines = (event) => router.log.match(new RegExp(`event=${event} .*`, 'g')) ?? [];
  /** Waits for one more line of an event, and gives it. */
  router.line = async (event, action) => {
    const before = lines(event).length;
    action();
    await eventually(() => lines(event).length > before, () => `no ${event} in\n${router.log}`);
    return lines(event).at(-1);
  };
  /** A certificate that is good for "desk", and somebody who comes in with one. */
  router.make = (name, options) => certificates.make(name, { by: 'ca', san: 'DNS:desk', ...options });
  router.join = (name) => Participant.join(router, { topic: 'room', authorization: false, query: { instance: 'auto' },
    url: router.urls[1].replace('127.0.0.1', 'localhost'), tls: certificates.client(name) });
  return { router, certificates };
}

test('while a large list is read, and takes the place of another, others do not wait', async (t) => {
  const { router, certificates } = await start(t);
  router.make('stolen');
  router.make('good');
  certificates.revoke('first', [], { others: LARGE }).revoke('second', ['stolen'], { others: LARGE });
  const [stolen, good] = [await router.join('stolen'), await router.join('good')];
  const watcher = await watchEchoes(t, router, TOKEN);

  watcher.begin();
  const times = [];
  for (const name of ['first', 'second']) {
    const begin = performance.now();
    await router.line('tls_files_read', () => {
      renameSync(certificates.path(name), certificates.path('live.crl'));
      process.kill(router.pid, 'SIGHUP');
    });
    times.push(performance.now() - begin);
  }
  assert.equal((await stolen.untilClosed()).code, 4005);
  await assert.rejects(router.join('stolen'), /revoked/);
  await (await router.join('good')).close();
  await good.untilId(good.send('chat', {}));
  const read = await router.line('tls_files_read', () => process.kill(router.pid, 'SIGHUP'));
  const { echoes, latest, late } = await watcher.end();
  t.diagnostic(`${times.map((time) => time.toFixed(0)).join(' and ')} ms for ${LARGE} entries; of ${echoes} `
    + `echoes the latest came after ${latest.toFixed(1)} ms, the router was late by ${late.toFixed(1)} ms`);
  assert.ok(read && echoes > 10);
  assert.ok(late < Math.min(...times) / 2, `the router was late by ${late} ms, a reading took ${times} ms`);
});

test('a pipe and a file that is too large are refused, and what was read before stays', async (t) => {
  const { router, certificates } = await start(t);
  router.make('stolen');
  router.make('good');
  const good = await router.join('good');
  await router.line('tls_files_read', () => certificates.revoke('live.crl', ['stolen']));
  certificates.revoke('kept', []);
  const pipe = (path) => execFileSync('mkfifo', [path]);
  const large = (size) => (path) => {
    writeFileSync(path, '');
    truncateSync(path, size + 1);
  };
  for (const [setting, file, max] of [['client_crl_file', 'live.crl', 1 << 26],
    ['certificate_file', 'live.pem', 1 << 20], ['key_file', 'live.key', 1 << 20], ['client_ca_file', 'ca.pem', 1 << 20]]) {
    for (const make of [pipe, large(max)]) {
      renameSync(certificates.path(file), certificates.path('before'));
      const line = await router.line('tls_files_unusable', () => make(certificates.path(file)));
      assert.ok(line.includes(`tls.${setting}: ${certificates.path(file)}: expected a regular file of at most ${max} bytes`), line);
      renameSync(certificates.path('before'), certificates.path(file));
      await assert.rejects(router.join('stolen'), /revoked/);
      await good.untilId(good.send('chat', {}));
      await router.line('tls_files_read', () => process.kill(router.pid, 'SIGHUP'));
    }
  }
});

test('the next list beside the one before: its end is what counts', async (t) => {
  const { router, certificates } = await start(t);
  const both = (...files) => writeFileSync(certificates.path('live.crl'), files.map((file) => certificates.text(file)).join(''));
  certificates.revoke('old.crl', [], { seconds: 3600 }).revoke('new.crl', [], { seconds: 7200 });
  await router.line('tls_files_read', () => both('old.crl', 'new.crl'));
  const left = await router.metric('mcpx_tls_client_crl_expiry_seconds') - Date.now() / 1000;
  assert.ok(left > 7000 && left <= 7200, `${left} s`);

  /* Another authority's is another matter. */
  router.make('middle', { cn: 'middle', san: '', authority: true });
  certificates.revoke('middle.crl', [], { by: 'middle', seconds: 5400 });
  await router.line('tls_files_read', () => both('new.crl', 'middle.crl', 'old.crl'));
  const first = await router.metric('mcpx_tls_client_crl_expiry_seconds') - Date.now() / 1000;
  assert.ok(first > 5200 && first <= 5400, `${first} s`);
});

test('a list revokes nobody before it begins; without another, its authority is refused', async (t) => {
  const { router, certificates } = await start(t);
  router.make('stolen');
  const member = await router.join('stolen');
  certificates.revoke('now.crl', []).revoke('next.crl', ['stolen'], { begins: 6 });
  await router.line('tls_files_read', () => writeFileSync(certificates.path('live.crl'),
    certificates.text('now.crl') + certificates.text('next.crl')));
  const later = await router.join('stolen');
  await later.untilId(later.send('chat', {}));
  for (const one of [member, later]) assert.equal((await one.untilClosed()).code, 4005);
  await assert.rejects(router.join('stolen'), /revoked/);

  router.make('good');
  const good = await router.join('good');
  const line = await router.line('tls_crl_early', () => certificates.revoke('live.crl', [], { begins: 3600 }));
  assert.match(line, /begins=\d+/);
  await router.line('tls_failed', () => assert.rejects(router.join('good')));
  assert.match(router.log, /event=tls_failed .*reason="CRL is not yet valid"/);
  await good.untilId(good.send('chat', {}));

  const { status, stderr } = spawnSync(routerBinary(), ['--listen', 'tls://127.0.0.1:0', '--check'], {
    encoding: 'utf8', env: { ...process.env, MCPX_TLS_CERTIFICATE_FILE: certificates.path('live.pem'),
      MCPX_TLS_KEY_FILE: certificates.path('live.key'), MCPX_TLS_CLIENT_CA_FILE: certificates.path('ca.pem'),
      MCPX_TLS_CLIENT_CRL_FILE: certificates.path('live.crl') } });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^tls\.client_crl_file: \S+live\.crl: has a list that has not begun/m);
});

test('lists are asked about whom an authority has signed, and not about whoever says so', async (t) => {
  const { router, certificates } = await start(t);
  certificates.make('other', { cn: 'authority', san: '', authority: true });
  router.make('stolen', { serial: '7' });
  router.make('forged', { serial: '7', by: 'other', more: ['authorityKeyIdentifier=none'] });
  await router.line('tls_files_read', () => certificates.revoke('live.crl', ['stolen']));
  const line = await router.line('tls_failed', () => assert.rejects(router.join('forged')));
  assert.match(line, /reason="certificate signature failure"/);
});
