/*
 * The story: an operator lets a timer fetch the issuer's keys. Whatever that server answers some
 * night, an error page, half a file, a redirect to somewhere else, the file that the router reads
 * must stay as it was, and the exit code must say that something is wrong.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as jose from './lib/jose.mjs';
import { Participant } from './lib/participant.mjs';
import { ends, mcpxctl } from './lib/program.mjs';
import { eventually, Router } from './lib/router.mjs';

const answers = new Map();
let folder, server, secure, base, secureBase, pair, set;

const handle = (request, response) => {
  const { status = 200, headers = {}, body, hangs } = answers.get(request.url) ?? { status: 404 };
  if (hangs) return;
  response.writeHead(status, headers).end(body);
};

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mcpx-jwks-'));
  const made = await jose.generateKeyPair('ES256', { extractable: true });
  pair = { ...made, kid: 'one' };
  const key = { ...await jose.exportJWK(made.publicKey), kid: 'one' };
  set = JSON.stringify({ keys: [key, { ...key, kid: 'enc', use: 'enc' }] });
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
    '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost',
    '-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.pem')], { stdio: 'ignore' });
  server = createServer(handle).listen(0, '127.0.0.1');
  secure = createSecureServer({ key: readFileSync(join(folder, 'tls.key')),
    cert: readFileSync(join(folder, 'tls.pem')) }, handle).listen(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(secure, 'listening')]);
  base = `http://127.0.0.1:${server.address().port}`;
  secureBase = `https://localhost:${secure.address().port}`;
  for (const [path, answer] of Object.entries({
    '/good': { body: set },
    '/page': { body: '<html>Sorry</html>' },
    '/empty': { body: '' },
    '/half': { body: set.slice(0, -10) },
    '/secret': { body: JSON.stringify({ keys: [{ kty: 'oct', k: 'AAAA' }] }) },
    '/none': { body: JSON.stringify({ keys: [] }) },
    '/long': { body: ' '.repeat(300000) + set },
    '/error': { status: 500, body: set },
    '/moved': { status: 302, headers: { location: '/good' }, body: set },
    '/hangs': { hangs: true },
  })) answers.set(path, answer);
});
after(() => {
  for (const each of [server, secure]) {
    each?.closeAllConnections();
    each?.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `mcpxctl jwks fetch`. */
const fetchKeys = (url, out, ...more) =>
  mcpxctl(['jwks', 'fetch', '--url', url, '--out', out, ...more]);

test('a good set takes the place of the file, over https', async () => {
  const out = join(folder, 'good.json');
  writeFileSync(out, 'old', { mode: 0o600 });
  const done = await fetchKeys(`${secureBase}/good`, out, '--ca-file', join(folder, 'tls.pem'));
  assert.deepEqual(done, { code: 0, stdout: '1 keys, 1 passed over\n', stderr: '' });
  assert.equal(readFileSync(out, 'utf8'), set);
  assert.equal(statSync(out).mode & 0o777, 0o644, 'the router may read it');
});

test('whatever else comes leaves the file as it is', async () => {
  const out = join(folder, 'kept.json');
  writeFileSync(out, set);
  const http = ['--insecure-http'];
  for (const [url, code, why, more = http] of [
    [`${base}/page`, 1, /no key set that the router takes: line 1/],
    [`${base}/empty`, 1, /no key set/],
    [`${base}/half`, 1, /no key set/],
    [`${base}/secret`, 1, /keys\[0\]: found a secret/],
    [`${base}/none`, 1, /found no key/],
    [`${base}/long`, 1, /more than 262144 bytes/],
    [`${base}/error`, 1, /the answer is 500/],
    [`${base}/moved`, 1, /the answer is 302.*redirects are not followed/],
    [`${base}/absent`, 1, /the answer is 404/],
    [`${base}/hangs`, 124, /no answer in time/, [...http, '--timeout', '0.3']],
    [`${base}/good`, 2, /has to begin with https/, []],
    ['http://id.example/jwks', 2, /has to begin with https/],
    ['http://127.0.0.1.example/jwks', 2, /has to begin with https/],
    ['file:///etc/passwd', 2, /has to begin with https|is not an address/],
    ['nonsense', 2, /address/],
    ['https://ann:secret@id.example/', 2, /name before the @/],
    [`${secureBase}/good`, 5, /cannot fetch it/, []],
    ['https://127.0.0.1:1/jwks', 5, /cannot fetch it/, []],
  ]) {
    const done = await ends(fetchKeys(url, out, ...more), code, why, url);
    assert.equal(done.stdout, '', url);
    assert.ok(!done.stderr.includes('secret@'), url);
    assert.equal(readFileSync(out, 'utf8'), set, url);
  }
  assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith('kept.json.')), []);
});

test('a file that cannot be written is told', async () => {
  await ends(fetchKeys(`${base}/good`, join(folder, 'no', 'such', 'folder.json'), '--insecure-http'),
    1, /cannot be written: No such file/);
});

test('the router believes what was fetched, without a restart', async (t) => {
  const out = join(folder, 'live.json');
  const other = await jose.generateKeyPair('ES256', { extractable: true });
  writeFileSync(out, JSON.stringify({ keys: [{ ...await jose.exportJWK(other.publicKey), kid: 'zero' }] }));
  const router = await Router.startFor(t, { config: { auth: { jwt: { jwks_file: out } } } });
  const token = await new jose.SignJWT({ sub: 'ann', topic: 'room' }).setExpirationTime('1h')
    .setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(pair.privateKey);
  await assert.rejects(Participant.join(router, { topic: 'room', token }));
  assert.equal((await fetchKeys(`${base}/good`, out, '--insecure-http')).code, 0);
  const ann = await eventually(() => Participant.join(router, { topic: 'room', token }).catch(() => null), 'ann');
  assert.equal(ann.id, 'ann');
  await ann.close();
});
