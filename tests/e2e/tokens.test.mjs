/*
 * The story: a company has its own identity provider and gives its agents signed tokens. The
 * router has to believe the good ones, whoever made them, and none of the tricks that are played
 * with the others. Tokens are made by hand here, with node's own cryptography, so that nothing of
 * the router's is used to test it. Protocol: section 7.
 */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { after, test } from 'node:test';
import { Participant, Refused } from './lib/participant.mjs';
import { Router } from './lib/router.mjs';

const SECRET = 'a secret that is long enough to be one, and only for this test';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const unknown = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaPublicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' });

const base64url = (value) => Buffer.from(
  typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);

const SIGNERS = {
  HS256: (text, key) => createHmac('sha256', key).update(text).digest(),
  HS512: (text, key) => createHmac('sha512', key).update(text).digest(),
  RS256: (text, key) => sign('sha256', Buffer.from(text), key),
  none: () => Buffer.alloc(0),
};

const CLAIMS = { participantId: 'signed', topic: 'office', capabilities: ['chat', 'mcp/request:tools/*'],
  iss: 'https://id.example', aud: 'mcpx' };

/** A JWT; `claims` are put over CLAIMS, undefined takes one away. */
function jwt(header, key, claims = {}) {
  const all = { ...CLAIMS, exp: now() + 3600, ...claims };
  const text = `${base64url({ typ: 'JWT', ...header })}.${base64url(all)}`;
  return `${text}.${base64url(SIGNERS[header.alg](text, key))}`;
}

const hs = (claims) => jwt({ alg: 'HS256', kid: 'shared' }, SECRET, claims);

const JWT = {
  issuer: 'https://id.example',
  audience: 'mcpx',
  keys: [{ kid: 'shared', alg: 'HS256', secret_file: 'secret' }],
};

const router = await Router.startFor({ after },
  { config: { auth: { jwt: JWT } }, files: { secret: SECRET } });

async function expectBelieved(at, rows) {
  for (const [what, token] of rows) {
    const one = await Participant.join(at, { topic: 'office', token })
      .catch((error) => assert.fail(`${what}: ${error.message}`));
    assert.equal(one.id, 'signed', what);
    assert.deepEqual(one.welcome.payload.you.capabilities, CLAIMS.capabilities, what);
    await one.close();
  }
}

async function expectRefused(at, rows) {
  for (const [what, token] of rows) {
    const refusal = await Participant.join(at, { topic: 'office', token })
      .then(() => assert.fail(`${what}: let in`), (error) => error);
    assert.ok(refusal instanceof Refused, `${what}: ${refusal}`);
    assert.equal(refusal.status, 401, `${what}: ${refusal.message}`);
    assert.ok(!refusal.text.includes(token), what);
    at.secrets.push(token);
  }
}

test('good tokens are believed', () => expectBelieved(router, [
  ['a shared secret', hs()],
  ['just expired, within the leeway', hs({ exp: now() - 5 })],
  ['not quite valid, within the leeway', hs({ nbf: now() + 5 })],
  ['sub for participantId', hs({ participantId: undefined, sub: 'signed' })],
  ['several topics', hs({ topic: ['lobby', 'office'] })],
  ['several audiences', hs({ aud: ['other', 'mcpx'] })],
]));

test('a token that says nothing of capabilities gives none', async (t) => {
  const one = await Participant.join(router,
    { topic: 'office', token: hs({ participantId: 'mute', capabilities: undefined }) });
  t.after(() => one.close());
  assert.deepEqual(one.welcome.payload.you.capabilities, []);
  assert.equal((await one.untilRefused(one.send('chat'))).error, 'capability_violation');
});

/* What is played with public keys: refused by a router that has them, and by one that has not. */
const ASYMMETRIC_TRICKS = [
  ['a public key as a shared secret', jwt({ alg: 'HS256', kid: 'rsa-1' }, rsaPublicPem)],
  ['a public key as a secret, no key named', jwt({ alg: 'HS256' }, rsaPublicPem)],
  ['an unknown key', jwt({ alg: 'RS256', kid: 'rsa-1' }, unknown.privateKey)],
  ['a key that is not there', jwt({ alg: 'RS256', kid: 'rsa-9' }, rsa.privateKey)],
  ['a key brought along', jwt({ alg: 'RS256', kid: 'rsa-1',
    jwk: unknown.publicKey.export({ format: 'jwk' }) }, unknown.privateKey)],
];

test('none of the known tricks opens the door', () => {
  const [head, body, signature] = hs().split('.');
  const more = base64url({ ...CLAIMS, exp: now() + 3600, capabilities: ['*'] });
  return expectRefused(router, [
    ['no signature', jwt({ alg: 'none' })],
    ['no signature under a known key', jwt({ alg: 'none', kid: 'shared' })],
    ['the wrong secret', jwt({ alg: 'HS256', kid: 'shared' }, 'guess')],
    ['another algorithm than the key is for', jwt({ alg: 'HS512', kid: 'shared' }, SECRET)],
    ['a critical extension nobody knows', jwt({ alg: 'HS256', kid: 'shared', crit: ['x'], x: 1 }, SECRET)],
    ['changed claims', `${head}.${more}.${signature}`],
    ['no signature part', `${head}.${body}`],
    ['an empty signature', `${head}.${body}.`],
    ['a fourth part', `${head}.${body}.${signature}.${signature}`],
    ['expired', hs({ exp: now() - 3600 })],
    ['not valid yet', hs({ nbf: now() + 3600 })],
    ['another issuer', hs({ iss: 'https://evil.example' })],
    ['no issuer', hs({ iss: undefined })],
    ['for somebody else', hs({ aud: 'other' })],
    ['nobody\'s', hs({ participantId: undefined })],
    ['in the router\'s own name', hs({ participantId: 'system:gateway' })],
    ...ASYMMETRIC_TRICKS,
  ]);
});

test('a token opens the topics it names and no other', async () => {
  for (const topic of ['lobby', 'offic', 'office2', 'Office']) {
    await assert.rejects(Participant.join(router, { topic, token: hs() }),
      (error) => error.status === 403 && error.problem.code === 'forbidden', topic);
  }
});

test('outside dev mode nobody is given a token for the asking', async () => {
  const { status } = await router.request('POST', '/v0.1/auth/token',
    { body: { participantId: 'x', topic: 'office', capabilities: ['*'] } });
  assert.ok(status === 404 || status === 403, String(status));
});
