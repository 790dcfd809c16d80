/*
 * The story: the company's identity provider signs with public keys, publishes them as a JWKS and changes
 * them from time to time. Agents must come in with what it signs, before, during and after a change, and
 * nobody with anything else. Its tokens are made by the library `jose`, which knows nothing of the
 * router; what RFC 8725 warns of is tried against the real daemon. Protocol: section 7.
 */
import assert from 'node:assert/strict';
import { createHmac, sign as signBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import * as jose from './lib/jose.mjs';
import { Participant, Refused } from './lib/participant.mjs';
import { AUDIT, auditKey, eventually, Router } from './lib/router.mjs';

const ALGS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLAIMS = { participantId: 'agent', topic: 'office', capabilities: ['chat'] };
const ISSUER = 'https://id.example', AUDIENCE = 'mcpx';
const now = () => Math.floor(Date.now() / 1000);
const part = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A key pair of the provider: what it signs with, and what it publishes. */
async function pairFor(alg, kid) {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicKey, jwk: { ...await jose.exportJWK(publicKey), kid, alg, use: 'sig' } };
}

/** What the provider signs. `claims` are put over CLAIMS; undefined takes one away. */
function issue({ alg, kid, privateKey }, claims = {}, header = {}) {
  const all = { ...CLAIMS, iss: ISSUER, aud: AUDIENCE, exp: now() + 3600, ...claims };
  return new jose.SignJWT(all).setProtectedHeader({ alg, kid, typ: 'JWT', ...header }).sign(privateKey);
}

/** Signs any text with a key of the curve P-256, as the provider never would. */
function forge(pair, header, claims, dsaEncoding = 'ieee-p1363') {
  const text = `${part(header)}.${part(claims)}`;
  const key = { key: pair.pem, dsaEncoding };
  return `${text}.${signBytes('sha256', Buffer.from(text), key).toString('base64url')}`;
}

const folder = folderFor({ after });
const pairs = Object.fromEntries(await Promise.all(
  ALGS.map(async (alg) => [alg, await pairFor(alg, `${alg}-1`)])));
pairs.ES256.pem = await jose.exportPKCS8(pairs.ES256.privateKey);
const jwksPath = () => join(folder, 'jwks.json');

/** Replaces a file as a careful program does. */
function publish(text, path = jwksPath()) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
const setOf = (...some) => JSON.stringify({ keys: some.map(({ jwk }) => jwk) });

const join1 = (token, at = router) => Participant.join(at, { topic: 'office', token });

/** Is let in; gives the participant. */
async function believed(token, what, at = router) {
  const one = await join1(token, at).catch((error) => assert.fail(`${what}: ${error.message}`));
  assert.equal(one.id, 'agent', what);
  return one;
}

const settings = () => ({ log: { format: 'json' },
  auth: { jwt: { issuer: ISSUER, audience: AUDIENCE, jwks_file: jwksPath() } } });
publish(setOf(...Object.values(pairs)));
const router = await Router.startFor({ after }, { config: settings() });
const reasons = (at) => at.log.split('\n').filter((line) => line.includes('"event":"refused"'));

/** Each is refused with 401 and no reason, while the log says why. */
async function refused(rows) {
  const at = await Router.start({ config: settings() });
  try {
    for (const [index, [what, token, reason]] of rows.entries()) {
      const refusal = await join1(token, at).then(() => assert.fail(`${what}: let in`), (error) => error);
      assert.ok(refusal instanceof Refused, `${what}: ${refusal}`);
      assert.equal(refusal.status, 401, what);
      assert.equal(refusal.problem.detail ?? 'Invalid token', 'Invalid token', what);
      at.secrets.push(token);
      const line = await eventually(() => reasons(at)[index], `no line about ${what}`);
      assert.match(JSON.parse(line).reason, reason, what);
    }
  } finally {
    await at.stop();
  }
}

test('what each algorithm signs is believed', async () => {
  for (const alg of ALGS) {
    await (await believed(await issue(pairs[alg]), alg)).close();
    await (await believed(await issue(pairs[alg], {}, { kid: undefined }), `${alg}, no kid`)).close();
  }
});

test('what RFC 8725 warns of is refused, and the log says why', async () => {
  const es = pairs.ES256, rs = pairs.RS256;
  const good = { ...CLAIMS, iss: ISSUER, aud: AUDIENCE, exp: now() + 3600 };
  const stranger = await pairFor('ES256', 'ES256-1');
  const pem = await jose.exportSPKI(rs.publicKey);
  const hmac = (header) => {
    const text = `${part(header)}.${part(good)}`;
    return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
  };
  const signed = await issue(es);
  const [head, body, signature] = signed.split('.');
  const head1 = { alg: 'ES256', kid: 'ES256-1' };
  const rows = [
    ['no signature', `${part({ alg: 'none' })}.${body}.`, /three parts/],
    ['none with a signature', `${part({ alg: 'none' })}.${body}.${signature}`, /alg in its header/],
    ['the public key as a secret', hmac({ alg: 'HS256', kid: 'RS256-1' }), /is for its alg/],
    ['the same without kid', hmac({ alg: 'HS256' }), /is for its alg/],
    ['RS256 said, HMAC made', hmac({ alg: 'RS256', kid: 'RS256-1' }), /has signed it/],
    ['another algorithm of the key', await issue({ ...rs, alg: 'RS256' }, {}, { kid: 'PS256-1' }), /is for its alg/],
    ['a P-256 key with ES384', `${part({ alg: 'ES384', kid: 'ES256-1' })}.${body}.${signature}`, /is for its alg/],
    ['a kid that is a path', await issue(es, {}, { kid: '../../../../dev/null' }), /has its kid/],
    ['a kid that is SQL', await issue(es, {}, { kid: "x' UNION SELECT 'key" }), /has its kid/],
    ['a kid that is long', await issue(es, {}, { kid: 'k'.repeat(5000) }), /has its kid/],
    ['kid twice', forge(es, '{"alg":"ES256","kid":"ES256-1","kid":"ES256-1"}', good), /each name once/],
    ['alg twice', forge(es, '{"alg":"none","alg":"ES256"}', good), /each name once/],
    ['participantId twice', forge(es, head1, JSON.stringify(good).replace('{', '{"participantId":"root",')), /nor a JWT/],
    ['another type', await issue(es, {}, { typ: 'logout+jwt' }), /typ in its header/],
    ['crit', forge(es, { ...head1, crit: ['exp'] }, good), /crit or b64/],
    ['expired', await issue(es, { exp: now() - 120 }), /expired/],
    ['without an end', await issue(es, { exp: undefined }), /no exp/],
    ['not valid yet', await issue(es, { nbf: now() + 120 }), /not valid yet/],
    ['another issuer', await issue(es, { iss: 'https://evil.example' }), /iss/],
    ['another audience', await issue(es, { aud: 'mail' }), /aud/],
    ['no audience', await issue(es, { aud: undefined }), /aud/],
    ['too long', await issue(es, { more: 'x'.repeat(9000) }), /configuration nor a JWT|8192/],
    ['garbage', 'garbage', /nor a JWT/],
    ['three parts of garbage', 'AAAA.BBBB.CCCC', /nor a JWT/],
    ['a stranger with our kid', await issue(stranger), /has signed it/],
    ['a key brought along', await issue(stranger, {}, { jwk: stranger.jwk }), /has signed it/],
    ['an address brought along', await issue(stranger, {}, { jku: 'http://127.0.0.1:9/jwks.json' }), /has signed it/],
    ['a certificate brought along', await issue(stranger, {}, { x5c: ['AAAA'] }), /has signed it/],
    ['a signature in DER', forge(es, head1, good, 'der'), /has signed it/],
    ['a signature of zeros', `${head}.${body}.${part(Buffer.alloc(64).toString('latin1'))}`, /has signed it/],
    ['a signature cut', `${head}.${body}.${signature.slice(0, -2)}`, /has signed it|three parts/],
  ];
  /* Of one address a few such lines are written at a time, so there is a router for every four. */
  while (rows.length) await refused(rows.splice(0, 4));
});

/* A signature of ECDSA has a twin, (r, n - s), that holds as well. Nothing is known by a signature
 * here, so the twin is the same token; it must not be worth more. */
test('the twin of a signature is worth what the signature is', async () => {
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const [head, body, signature] = (await issue(pairs.ES256)).split('.');
  const raw = Buffer.from(signature, 'base64url').toString('hex');
  const twin = (n - BigInt(`0x${raw.slice(64)}`)).toString(16).padStart(64, '0');
  const one = await believed(
    `${head}.${body}.${Buffer.from(raw.slice(0, 64) + twin, 'hex').toString('base64url')}`, 'the twin');
  assert.deepEqual(one.welcome.payload.you.capabilities, CLAIMS.capabilities);
  await one.close();
});

test('keys change while the router runs, and nobody is lost', async (t) => {
  const old = pairs.ES256, next = await pairFor('ES256', 'ES256-2');
  const stays = await believed(await issue(old), 'the old key');
  t.after(() => stays.close());
  const other = { participantId: 'other' };
  const comesIn = async (pair) => {
    try {
      await (await join1(await issue(pair, other))).close();
      return true;
    } catch (error) {
      assert.equal(error.status, 401, String(error));
      return false;
    }
  };
  assert.equal(await comesIn(next), false);
  publish(setOf(...Object.values(pairs), next));
  await eventually(() => comesIn(next), 'the new key is not read');
  assert.equal(await comesIn(old), true, 'the old one stands beside it');

  for (const [what, text, why] of [
    ['broken', '{"keys": [', /keys_refused.*line 1/],
    ['empty', '', /keys_refused.*line 1/],
    ['with a secret', JSON.stringify({ keys: [{ kty: 'oct', k: 'AAAA' }] }), /keys_refused.*found a secret/],
    ['with a private key', JSON.stringify({ keys: [await jose.exportJWK(next.privateKey)] }), /keys_refused.*private key/],
  ]) {
    const failures = await router.metric('mcpx_key_file_failures_total');
    publish(text);
    await eventually(async () => await router.metric('mcpx_key_file_failures_total') > failures,
      `${what}: not noticed`);
    assert.equal(await router.metric('mcpx_key_file_faulty'), 1, what);
    assert.match(router.log, why, what);
    assert.equal(await comesIn(old), true, `${what}: the keys of before stay`);
  }

  publish(setOf(...Object.values(pairs).filter((pair) => pair !== old), next));
  await eventually(async () => !(await comesIn(old)), 'the old key is still believed');
  assert.equal(await router.metric('mcpx_key_file_faulty'), 0);
  assert.equal(await router.metric('mcpx_key_file_keys'), ALGS.length);
  assert.ok(await router.metric('mcpx_key_file_age_seconds') < 60);
  assert.equal(await comesIn(next), true);
  const id = await stays.send('chat', { text: 'still here' });
  assert.ok(id, 'who is in stays in until its token ends');
  publish(setOf(...Object.values(pairs)));
  await eventually(() => comesIn(old), 'the old key comes back');
});

test('a PEM file holds old and new side by side', async (t) => {
  const path = join(folder, 'issuer.pem');
  const [old, next] = [await pairFor('RS256', 'pem'), await pairFor('RS256', 'pem')];
  const pem = { old: await jose.exportSPKI(old.publicKey), next: await jose.exportSPKI(next.publicKey) };
  publish(pem.old, path);
  const one = await Router.startFor(t, {
    config: { auth: { jwt: { keys: [{ kid: 'pem', alg: 'RS256', public_key_file: path }] } },
      audit: AUDIT },
    files: auditKey(),
  });
  await (await believed(await issue(old), 'old', one)).close();
  await assert.rejects(join1(await issue(next), one));
  publish(`${pem.old}\n${pem.next}`, path);
  const token = await issue(next);
  await (await eventually(() => join1(token, one).catch(() => null), 'the new key')).close();
  await (await believed(await issue(old), 'old beside new', one)).close();
  const { reason } = await eventually(() => one.audit().find(({ what }) => what === 'keys'),
    'a line of the audit');
  assert.equal(reason, '/auth/jwt/keys/0');
});

test('a private key where a public one belongs stops the start, with advice', async () => {
  const path = join(folder, 'private.pem');
  publish(pairs.ES256.pem, path);
  await assert.rejects(
    Router.start({ config: { auth: { jwt: { keys: [{ alg: 'ES256', public_key_file: path }] } } } }),
    (error) => /found a private key.*openssl pkey -in FILE -pubout/.test(error.message)
      && !error.message.includes(pairs.ES256.pem.split('\n')[1]));
});

test('a file that wants a passphrase stops the start, and nobody is asked for one', async () => {
  const path = join(folder, 'locked.pem');
  publish(['-----BEGIN PUBLIC KEY-----', 'Proc-Type: 4,ENCRYPTED',
    'DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF', '',
    'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=', '-----END PUBLIC KEY-----', ''].join('\n'), path);
  await assert.rejects(
    Router.start({ config: { auth: { jwt: { keys: [{ alg: 'EdDSA', public_key_file: path }] } } } }),
    (error) => /found a damaged key/.test(error.message) && !/pass ?phrase/i.test(error.message));
});
