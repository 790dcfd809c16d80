/*
 * What breaks for whom: a client that insists on an OCSP response refuses a router that shows none,
 * an old one, or one about another certificate; an operator whose timer has failed hears of it from
 * them.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash, sign } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Certificates } from './lib/certificates.mjs';
import { DEADLINE_MS, eventually, freePort, inTime, Router, routerBinary } from './lib/router.mjs';

const run = (file, words, options = {}) => new Promise((done) => {
  const child = execFile(file, words, { timeout: DEADLINE_MS, ...options }, (error, stdout, stderr) => {
    done({ code: error ? error.code : 0, stdout, stderr });
  });
  child.stdin.on('error', () => {}).end();
});

/** An authority, and certificates "live" and "two" of it; what a file holds besides follows in it. */
function makeCertificates(t, { key = 'ec', more } = {}) {
  const certificates = new Certificates(t).make('ca', { cn: 'authority', san: '', authority: true, key });
  for (const name of ['one', 'two']) {
    certificates.make(name, { by: 'ca', more });
    writeFileSync(certificates.path(`${name}.pem`), certificates.text('ca.pem'), { flag: 'a' });
  }
  certificates.become('one', 'live');
  return certificates;
}

const settings = (certificates) => ({ certificate_file: certificates.path('live.pem'),
  key_file: certificates.path('live.key'), ocsp_file: certificates.path('live.ocsp') });

async function start(t, certificates) {
  const router = await Router.start({ config: { tls: settings(certificates),
    participants: { ann: { token_sha256: createHash('sha256').update('x').digest('hex'), topics: ['*'] } } },
  args: ['--listen', '127.0.0.1:0', '--listen', 'tls://127.0.0.1:0'] });
  t.after(() => router.stop());
  router.port = new URL(router.urls[1]).port;
  /** What a client is shown that asks for a response. */
  router.shown = async (...words) => (await run('openssl', ['s_client', '-connect',
    `127.0.0.1:${router.port}`, '-status', '-CAfile', certificates.path('ca.pem'), ...words])).stdout;
  router.metric = async (name) => Number(new RegExp(`^${name} (.*)$`, 'm')
    .exec((await router.get('/metrics')).text)[1]);
  /** Waits for one more line of an event, and gives it. */
  router.line = async (event, action) => {
    const lines = () => router.log.match(new RegExp(`event=${event} .*`, 'g')) ?? [];
    const before = lines().length;
    await action();
    await eventually(() => lines().length > before, () => `no ${event} in\n${router.log}`);
    return lines().at(-1);
  };
  return router;
}

const good = /Cert Status: good/;
const none = /OCSP response: no response sent/;

/** Where the elements of a DER sequence begin and end, its own head left out. */
function elements(der, from) {
  const head = (at) => {
    const long = der[at + 1] & 0x80 ? der[at + 1] & 0x7f : 0;
    return { body: at + 2 + long, length: long ? der.readUIntBE(at + 2, long) : der[at + 1] };
  };
  const { body, length } = head(from);
  const found = [];
  for (let at = body; at < body + length; at = found.at(-1).end) {
    const part = head(at);
    found.push({ at, body: part.body, end: part.body + part.length });
  }
  return found;
}

/** Moves the end of a response to `end`, and signs it again: with RSA, all lengths stay. */
function move(certificates, file, end) {
  const der = readFileSync(certificates.path(file));
  const [, wrapped] = elements(der, 0);
  const octets = elements(der, elements(der, wrapped.at)[0].at)[1];
  const [data, , signature] = elements(der, octets.body);
  const times = [...der.subarray(data.at, data.end).toString('latin1').matchAll(/20\d{12}Z/g)];
  der.write(end.toISOString().replace(/[-:T]|\.\d+/g, ''), data.at + times.at(-1).index, 'latin1');
  sign('sha256', der.subarray(data.at, data.end), certificates.text('ca.key')).copy(der, signature.body + 1);
  writeFileSync(certificates.path(`${file}.new`), der);
  renameSync(certificates.path(`${file}.new`), certificates.path(file));
}

test('a response is shown to who asks, and follows certificate and file', async (t) => {
  const certificates = makeCertificates(t).respond('one', 'live.ocsp');
  const router = await start(t, certificates);
  for (const version of ['-tls1_2', '-tls1_3']) assert.match(await router.shown(version), good);
  const expiry = await router.metric('mcpx_tls_ocsp_expiry_seconds');
  assert.ok(Math.abs(expiry - Date.now() / 1000 - 2 * 86400) < 100, String(expiry));

  await router.line('tls_ocsp_read', () => certificates.respond('one', 'live.ocsp', { days: 3 }));
  assert.ok(await router.metric('mcpx_tls_ocsp_expiry_seconds') > expiry + 80000);

  /* Another certificate: what was said of the one before is said of it no more. */
  const line = await router.line('tls_ocsp_unusable', () => certificates.become('two', 'live'));
  assert.match(line, /reason="it is about another certificate"/);
  assert.match(await router.shown(), none);
  assert.equal(await router.metric('mcpx_tls_ocsp_expiry_seconds'), 0);
  await router.line('tls_ocsp_read', () => certificates.respond('two', 'live.ocsp'));
  assert.match(await router.shown(), good);
  assert.equal(await router.metric('mcpx_tls_ocsp_unusable'), 0);
});

test('a response that a client would refuse is not shown, the one before is', async (t) => {
  const certificates = makeCertificates(t, { key: 'rsa' }).respond('one', 'live.ocsp');
  certificates.make('stranger', { cn: 'authority', san: '', authority: true })
    .make('plain', { by: 'ca' }).make('delegate', { by: 'ca', more: ['extendedKeyUsage=OCSPSigning'] });
  const router = await start(t, certificates);
  const make = (...words) => () => certificates.respond('one', 'live.ocsp', ...words);
  for (const [reason, action] of [
    ['neither the certificate\'s issuer has signed it, nor whom that has appointed', make({ signer: 'stranger' })],
    ['neither the certificate\'s issuer has signed it, nor whom that has appointed', make({ signer: 'plain' })],
    ['it is about another certificate', () => certificates.respond('two', 'live.ocsp')],
    ['it says that the certificate is revoked', make({ status: 'R' })],
    ['it says that its author does not know the certificate', make({ listed: 'two' })],
    ['it has expired', () => { make()(); move(certificates, 'live.ocsp', new Date(Date.now() - 1000)); }],
    ['it is no OCSP response in DER, as openssl ocsp -respout writes it', () => writeFileSync(
      certificates.path('live.ocsp'), 'nonsense')],
    ['No such file or directory', () => renameSync(certificates.path('live.ocsp'), certificates.path('gone'))],
  ]) {
    const line = await router.line('tls_ocsp_unusable', action);
    assert.ok(line.includes(`reason="${reason}"`), line);
    assert.match(await router.shown(), good);
    assert.equal(await router.metric('mcpx_tls_ocsp_unusable'), 1);
  }
  await router.line('tls_ocsp_read', make({ signer: 'delegate' }));
  assert.match(await router.shown(), good);
});

test('a response that ends is shown no more, and the operator hears of it', async (t) => {
  const certificates = makeCertificates(t, { key: 'rsa' }).respond('one', 'live.ocsp');
  move(certificates, 'live.ocsp', new Date(Date.now() + 4000));
  const router = await start(t, certificates);
  assert.match(await router.shown(), good);
  await router.line('tls_ocsp_expired', () => {});
  assert.match(await router.shown(), none);
  assert.equal(await router.metric('mcpx_tls_ocsp_expiry_seconds'), 0);
});

test('without a response the router starts, and --check warns', async (t) => {
  const certificates = makeCertificates(t, { more: ['tlsfeature=status_request'] });
  const router = await start(t, certificates);
  assert.match(router.log, /event=tls_ocsp_unusable .*reason="No such file or directory"/);
  assert.match(await router.shown(), none);
  const check = (ocsp) => run(routerBinary(), ['--listen', 'tls://127.0.0.1:0', '--check'], { env: {
    MCPX_TLS_CERTIFICATE_FILE: certificates.path('live.pem'), MCPX_TLS_KEY_FILE: certificates.path('live.key'),
    MCPX_TLS_OCSP_FILE: ocsp } });
  const absent = await check(certificates.path('live.ocsp'));
  assert.equal(absent.code, 0, absent.stderr);
  assert.match(absent.stderr, /^tls\.ocsp_file: \S+live\.ocsp: No such file or directory$/m);
  assert.match((await check('')).stderr, /^tls\.ocsp_file: is empty, but the certificate says/m);
  certificates.respond('one', 'live.ocsp');
  assert.doesNotMatch((await check(certificates.path('live.ocsp'))).stderr, /ocsp/);
});

test('the command of the manual fetches what the router takes', async (t) => {
  const port = await freePort();
  const certificates = makeCertificates(t, { more: [`authorityInfoAccess=OCSP;URI:http://127.0.0.1:${port}`] });
  const router = await start(t, certificates);
  const responder = spawn('openssl', ['ocsp', '-index', certificates.index('one'), '-port', String(port),
    '-CA', certificates.path('ca.pem'), '-rsigner', certificates.path('ca.pem'),
    '-rkey', certificates.path('ca.key'), '-ndays', '2'], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => responder.kill());
  await inTime(new Promise((done) => {
    for (const stream of [responder.stdout, responder.stderr]) {
      stream.on('data', (part) => /waiting for OCSP client/i.test(part) && done());
    }
  }), 'no responder');
  const manual = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const command = /```text\n(sed [\s\S]*?)```/.exec(manual)[1].replaceAll('router.', 'live.');
  await router.line('tls_ocsp_read', async () => {
    const { code, stderr } = await run('sh', ['-c', command], { cwd: certificates.folder });
    assert.equal(code, 0, stderr);
  });
  assert.match(await router.shown(), good);
});
