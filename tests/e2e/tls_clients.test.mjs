/*
 * What breaks for whom: a stranger with any certificate at all comes in as somebody; a token that was
 * stolen is good on another machine; an agent with the right certificate is kept out, and nobody can
 * say why.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join as pathOf } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Certificates } from './lib/certificates.mjs';
import { Participant } from './lib/participant.mjs';
import { eventually, inTime, person as entry, Router, tokenOf as token } from './lib/router.mjs';

const person = (id) => entry(id, ['chat'], { topics: ['room*'] });

const NAMES = { 'dns:agent.example': 'agent', 'uri:spiffe://a/desk': 'desk', 'email:ann@example.org': 'ann',
  'cn:Bob of the office': 'bob', 'dns:also.agent.example': 'agent' };

/** `crl`: also with revocation lists, in which nobody stands yet. */
async function start(t, { crl = false } = {}) {
  const certificates = new Certificates(t).make('ca', { cn: 'authority', san: '', authority: true })
    .make('other', { cn: 'authority', san: '', authority: true }).make('live', { by: 'ca' });
  if (crl) certificates.revoke('live.crl', []);
  const router = await Router.startFor(t, {
    config: {
      participants: Object.fromEntries(['agent', 'desk', 'ann', 'bob'].map((id) => [id, person(id)])),
      tls: certificates.settings({ clients: NAMES, crl }),
    },
    args: ['--listen', 'tls://127.0.0.1:0'],
  });
  router.secrets = ['agent', 'desk', 'ann', 'bob'].map(token);
  router.url = router.urls[0].replace('127.0.0.1', 'localhost');
  /** How somebody comes in with a certificate of these names, made for the occasion. */
  router.with = (name, options) => {
    certificates.make(name, { by: 'ca', ...options });
    return certificates.client(name);
  };
  router.bare = certificates.client();
  /** Waits until the files that `change` has changed were read; `event` says with what success. */
  router.reread = async (change, event = 'tls_files_read') => {
    const lines = () => router.log.match(new RegExp(`event=${event} .*`, 'g')) ?? [];
    const before = lines().length;
    change();
    await eventually(() => lines().length > before, () => `no ${event} in\n${router.log}`);
    return lines().at(-1);
  };
  return { router, certificates };
}

const join = (router, tls, more) => Participant.join(router,
  { topic: 'room', authorization: false, tls, ...more });

/** The log comes by a pipe: a line may be later than what it is about. */
const logged = (router, pattern) => eventually(() => pattern.test(router.log), () => `no ${pattern} in\n${router.log}`);

/** Without a body it is a GET. */
const get = (router, path, tls, headers = {}, body = undefined) => inTime(new Promise((done, fail) => {
  const method = body ? 'POST' : 'GET';
  request(new URL(path, router.url.replace('wss', 'https')), { ...tls, headers, method }, (response) => {
    const parts = [];
    response.on('data', (part) => parts.push(part));
    response.on('end', () => done({ status: response.statusCode, text: Buffer.concat(parts).toString() }));
  }).on('error', fail).end(body);
}), 'no answer');

const metric = async (router, name) => Number(new RegExp(`^${name} (.*)$`, 'm')
  .exec((await get(router, '/metrics', router.bare)).text)[1]);

test('each sort of name stands for its participant, without a token', async (t) => {
  const { router } = await start(t);
  for (const [id, options] of [
    ['agent', { cn: 'whoever', san: 'DNS:x.example,DNS:agent.example' }],
    ['agent', { cn: 'whoever', san: 'DNS:also.agent.example,DNS:agent.example' }],
    ['desk', { cn: 'whoever', san: 'URI:spiffe://a/desk' }],
    ['ann', { cn: 'whoever', san: 'email:ann@example.org' }],
    ['bob', { cn: 'Bob of the office', san: '' }],
  ]) {
    const member = await join(router, router.with('client', options));
    assert.equal(member.id, id);
    await member.untilId(member.send('chat', { text: 'hello' }));
    await member.close();
  }
});

test('the HTTP API knows it too, and gives tickets for it', async (t) => {
  const { router } = await start(t);
  const tls = router.with('client', { san: 'URI:spiffe://a/desk' });
  const seat = await join(router, tls);
  const topics = await get(router, '/v0.1/topics', tls);
  assert.equal(topics.status, 200, topics.text);
  assert.match(topics.text, /"room"/);
  assert.equal((await get(router, '/v0.1/topics/room/participants', tls)).status, 200);
  assert.equal((await get(router, '/v0.1/topics/elsewhere/participants', tls)).status, 403);
  assert.equal((await get(router, '/v0.1/topics', router.bare)).status, 401);
  await seat.close();
});

test('a token beside it has to be of the same participant', async (t) => {
  const { router } = await start(t);
  const tls = router.with('client', { san: 'DNS:agent.example' });
  const agent = await join(router, tls, { token: token('agent'), authorization: undefined });
  assert.equal(agent.id, 'agent');
  await agent.close();
  await assert.rejects(join(router, tls, { token: token('ann'), authorization: undefined }), { status: 401 });
  await logged(router, /event=refused .*reason="its token or ticket is not of whom its certificate stands for"/);
  const topics = await get(router, '/v0.1/topics', tls, { authorization: `Bearer ${token('ann')}` });
  assert.equal(topics.status, 401);
  const bare = await join(router, router.bare, { token: token('ann'), authorization: undefined });
  assert.equal(bare.id, 'ann');
  await bare.close();
});

test('whom nobody has named, or two have, stays outside, and the log says why', async (t) => {
  const { router } = await start(t);
  for (const options of [
    { cn: 'agent', san: 'DNS:stranger.example' },
    { cn: 'stranger', san: 'DNS:agent.example,email:ann@example.org' },
    { cn: 'agent.example', san: '' },
    { cn: 'x', san: 'URI:agent.example' },
  ]) {
    const tls = router.with('client', options);
    for (const more of [{}, { token: token('ann'), authorization: undefined }]) {
      await assert.rejects(join(router, tls, more), { status: 401 });
    }
  }
  await logged(router, /event=refused .*claimed="dns:stranger\.example cn:agent ".*reason="no name of its certificate stands in tls\.client_names/);
});

test('what another authority has signed, or nobody, ends the handshake', async (t) => {
  const { router } = await start(t);
  for (const options of [{ by: 'other' }, { by: undefined }]) {
    const tls = router.with('client', { san: 'DNS:agent.example', ...options });
    await assert.rejects(join(router, tls), /alert|ECONNRESET|socket hang up/);
  }
});

test('who is taken out of the table is out, and nobody else', async (t) => {
  const { router } = await start(t);
  const desk = await join(router, router.with('desk', { san: 'URI:spiffe://a/desk' }));
  const agent = await join(router, router.with('client', { san: 'DNS:agent.example' }));
  const ann = await join(router, router.bare, { token: token('ann'), authorization: undefined });
  const file = pathOf(router.folder, 'router.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  delete config.tls.client_names['uri:spiffe://a/desk'];
  writeFileSync(file, JSON.stringify(config));
  router.restart(); /* one that is not activated reads it again */
  const end = await desk.untilClosed();
  assert.equal(end.code, 4005);
  await logged(router, /event=reloaded .*settings=.*\/tls\/client_names/);
  for (const one of [agent, ann]) await one.untilId(one.send('chat', {}));
});

test('who is revoked is out, and nobody else', async (t) => {
  const { router, certificates } = await start(t, { crl: true });
  const stolen = router.with('stolen', { san: 'URI:spiffe://a/desk' });
  const desk = await join(router, stolen);
  const agent = await join(router, router.with('agent', { san: 'DNS:agent.example' }));
  const ann = await join(router, router.bare, { token: token('ann'), authorization: undefined });
  const silent = connectTls({ host: '127.0.0.1', port: new URL(router.url).port, ...stolen });
  await inTime(new Promise((done) => silent.once('secureConnect', done)), 'no handshake');
  await eventually(async () => (await metric(router, 'mcpx_tls_handshakes_total')) >= 5, 'not all came in');

  await router.reread(() => certificates.revoke('live.crl', ['stolen']));
  assert.equal((await desk.untilClosed()).code, 4005);
  const answer = inTime(new Promise((done) => silent.once('data', done)), 'no answer');
  silent.write('GET /v0.1/topics HTTP/1.1\r\nHost: a\r\n\r\n');
  assert.match(String(await answer), /^HTTP\/1\.1 401 /);
  await assert.rejects(join(router, stolen), /revoked/);
  await logged(router, /event=tls_failed .*reason="certificate revoked"/);
  const fresh = await join(router, router.with('fresh', { san: 'URI:spiffe://a/desk' }));
  for (const one of [agent, ann, fresh]) await one.untilId(one.send('chat', {}));

  /* What cannot be used changes nothing: neither who is revoked, nor who is not. */
  for (const [change, reason] of [
    [() => writeFileSync(certificates.path('live.crl'), ''), 'no start line'],
    [() => certificates.revoke('live.crl', [], { by: 'other' }), 'has no list that /CN=authority has signed'],
  ]) {
    const line = await router.reread(change, 'tls_files_unusable');
    assert.ok(line.includes(`live.crl: ${reason}`), line);
    await assert.rejects(join(router, stolen), /revoked/);
    await fresh.untilId(fresh.send('chat', {}));
  }
});

test('a ticket that a certificate was given is worth what the certificate is', async (t) => {
  const { router, certificates } = await start(t, { crl: true });
  const stolen = router.with('stolen', { san: 'URI:spiffe://a/desk' });
  const ticket = async () => JSON.parse((await get(router, '/v0.1/tickets', stolen, {},
    '{"topic":"room"}')).text).ticket;
  const refused = async (tls) =>
    assert.rejects(join(router, tls, { query: { ticket: await ticket() } }), { status: 401 });
  await refused(router.bare);
  await refused(router.with('ann', { san: 'email:ann@example.org' }));
  const desk = await join(router, stolen, { query: { ticket: await ticket() } });
  await router.reread(() => certificates.revoke('live.crl', ['stolen']));
  assert.equal((await desk.untilClosed()).code, 4005);
});

test('an authority in between that is revoked takes its clients along', async (t) => {
  const { router, certificates } = await start(t, { crl: true });
  certificates.make('middle', { cn: 'middle', san: '', authority: true, by: 'ca' });
  const both = (names) => {
    certificates.revoke('ca.crl', names).revoke('middle.crl', [], { by: 'middle' });
    writeFileSync(certificates.path('live.crl'), certificates.text('ca.crl') + certificates.text('middle.crl'));
  };
  const tls = router.with('client', { san: 'DNS:agent.example', by: 'middle' });
  tls.cert += certificates.text('middle.pem');
  await assert.rejects(join(router, tls)); /* no list says that it is good */
  await router.reread(() => both([]));
  const agent = await join(router, tls);
  await router.reread(() => both(['middle']));
  assert.equal((await agent.untilClosed()).code, 4005);
  await assert.rejects(join(router, tls), /revoked/);
});

test('an authority with a new key does not revoke by numbers of the old one', async (t) => {
  const { router, certificates } = await start(t, { crl: true });
  const old = router.with('old', { san: 'URI:spiffe://a/desk', serial: '7' });
  const fresh = router.with('fresh', { san: 'URI:spiffe://a/desk', serial: '7', by: 'other' });
  await router.reread(() => {
    certificates.revoke('old.crl', ['old'], { keyed: true }).revoke('new.crl', [], { by: 'other', keyed: true });
    writeFileSync(certificates.path('live.crl'), certificates.text('old.crl') + certificates.text('new.crl'));
    writeFileSync(certificates.path('ca.pem'), certificates.text('ca.pem') + certificates.text('other.pem'));
  });

  await assert.rejects(join(router, old), /revoked/);
  const desk = await join(router, fresh);
  await desk.untilId(desk.send('chat', {}));
});

test('a list that has ended keeps certificates out, but nobody who is in', async (t) => {
  const { router, certificates } = await start(t, { crl: true });
  const tls = router.with('desk', { san: 'URI:spiffe://a/desk' });
  const desk = await join(router, tls);
  await router.reread(() => certificates.revoke('live.crl', [], { seconds: 3 }), 'tls_crl_expired');
  await assert.rejects(join(router, tls), /alert|expired|ECONNRESET|socket hang up/);
  await logged(router, /event=tls_failed .*reason="CRL has expired"/);
  const ann = await join(router, router.bare, { token: token('ann'), authorization: undefined });
  for (const one of [desk, ann]) await one.untilId(one.send('chat', {}));
  assert.ok(await metric(router, 'mcpx_tls_client_crl_expiry_seconds') <= Date.now() / 1000);
  await router.reread(() => certificates.revoke('live.crl', []));
  await desk.untilId(desk.send('chat', {}));
  await (await join(router, tls)).close();
});

test('names that mean nobody, and names without authorities, are faults', async (t) => {
  const certificates = new Certificates(t).make('live');
  for (const [tls, line] of [
    [{ client_names: { 'dns:a': 'nobody' } }, /\/tls\/client_names\/dns:a: expected the id of one of participants/],
    [{ client_names: { a: 'ann' } }, /\/tls\/client_names\/a: expected a name that begins with dns:/],
    [{ client_crl_file: 'x' }, /\/tls\/client_crl_file: is not used: tls\.client_ca_file is empty/],
    [{ client_names: { 'dns:a': 'ann' } }, /\/tls\/client_ca_file: is empty, expected the path of authorities/],
  ]) {
    await assert.rejects(Router.start({ args: ['--listen', 'tls://127.0.0.1:0'], config: {
      participants: { ann: person('ann') }, tls: { ...certificates.settings(), ...tls } } }), line);
  }
});
