/*
 * What breaks for whom: an operator whose certificate is renewed and whose agents are all cut off, or
 * go on with the old one for ever; a message that is lost or doubled between records; a client that
 * is let in with a cipher that was broken years ago; everybody, while a stranger begins handshakes.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Certificates } from './lib/certificates.mjs';
import { Participant } from './lib/participant.mjs';
import { ends, mcpxctl, run } from './lib/program.mjs';
import { say } from './lib/relay.mjs';
import { AUDIT, auditKey, eventually, inTime, Router, routerBinary } from './lib/router.mjs';

const LIMITS = { connects_per_s: 0, joins_per_minute: 0, messages_per_minute: 0,
  bytes_per_minute: 0, requests_per_minute: 0, message_bytes: 1 << 24 };

/** A router with a plain address and one with TLS, `router.urls`, and its certificate. */
async function start(t, { key = 'ec', tls = {}, files = {}, ...config } = {}) {
  const certificates = new Certificates(t).make('one', { key });
  certificates.become('one', 'live');
  const router = await Router.startFor(t, {
    config: { limits: LIMITS, ...config, tls: { ...certificates.settings(), ...tls } },
    args: ['--listen', '127.0.0.1:0', '--listen', 'tls://127.0.0.1:0', '--dev'],
    files,
    env: { MCPX_AUTH_JWT_SECRET: randomUUID() },
  });
  router.port = Number(new URL(router.urls[1]).port);
  router.certificates = certificates;
  return router;
}

/** How somebody comes in under TLS; the certificate is the one that is in force. */
function secured(router, ca = router.certificates.text('live.pem')) {
  return { url: router.urls[1].replace('127.0.0.1', 'localhost'), tls: { ca, family: 4 } };
}

const member = (router, id) => Participant.join(router, { id, topic: 'room', ...secured(router) });

const sClient = (router, ...words) =>
  run('openssl', ['s_client', '-connect', `127.0.0.1:${router.port}`, ...words]);

/** The first flight of a client, as it is written. */
function clientHello() {
  return inTime(new Promise((done) => {
    const catcher = createServer((socket) => socket.once('data', (part) => {
      done(part);
      socket.destroy();
      catcher.close();
    })).listen(0, '127.0.0.1', () => {
      connectTls({ host: '127.0.0.1', port: catcher.address().port }).on('error', () => {});
    });
  }), 'no client hello');
}

for (const [key, sort] of [['ec', 'ECDSA'], ['rsa', 'RSA']]) {
  test(`of all versions and ciphers, only what is sound is spoken (${key})`, async (t) => {
    const router = await start(t, { key });
    const open = async (...words) => (await sClient(router, ...words)).stdout;
    const taken = async (version, option, names) => {
      const answers = await Promise.all(names.map((name) => open(`-${version}`, option, name)));
      return names.filter((name, i) => answers[i].includes(`Cipher is ${name}\n`)).sort();
    };
    const { stdout } = await run('openssl', ['ciphers', '-s', '-tls1_2', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0']);
    const all = stdout.trim().split(':').filter((name) => !name.startsWith('TLS_'));
    assert.ok(all.length > 50);
    assert.deepEqual(await taken('tls1_2', '-cipher', all), [`ECDHE-${sort}-AES128-GCM-SHA256`,
      `ECDHE-${sort}-AES256-GCM-SHA384`, `ECDHE-${sort}-CHACHA20-POLY1305`]);
    assert.deepEqual(await taken('tls1_3', '-ciphersuites', ['TLS_AES_128_GCM_SHA256',
      'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_CCM_SHA256']),
    ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']);
    for (const version of ['tls1', 'tls1_1']) {
      assert.match(await open(`-${version}`, '-cipher', 'ALL:@SECLEVEL=0'), /Cipher is \(NONE\)/);
    }
    const session = await open('-tls1_2');
    assert.match(session, /Compression: NONE/);
    assert.match(session, /Secure Renegotiation IS supported/);
    assert.doesNotMatch(session, /TLS session ticket/);
    assert.match(await open('-alpn', 'h2,http/1.1'), /ALPN protocol: http\/1\.1/);
  });
}

test('min_version 1.3 speaks nothing older', async (t) => {
  const router = await start(t, { tls: { min_version: '1.3' } });
  assert.match((await sClient(router, '-tls1_2')).stdout, /Cipher is \(NONE\)/);
  assert.match((await sClient(router, '-tls1_3')).stdout, /Cipher is TLS_AES/);
});

test('whoever wants another protocol, or renegotiates, is told no', async (t) => {
  const router = await start(t);
  assert.match((await sClient(router, '-alpn', 'h2')).stderr, /no application protocol/);
  const again = await run('openssl', ['s_client', '-connect', `127.0.0.1:${router.port}`, '-tls1_2'], { input: 'R\n' });
  assert.match(again.stderr, /no renegotiation/);
});

test('megabytes cross both ways, to a reader that pauses, whole and in order', async (t) => {
  const router = await start(t);
  const [alice, bob] = [await member(router, 'alice'), await member(router, 'bob')];
  const carol = await Participant.join(router, { id: 'carol', topic: 'room' });
  const sent = [];
  bob.pause();
  for (let i = 0; i < 30; i++) {
    const text = `${i} ${'x'.repeat([10, 16384, 700000, 3000000][i % 4])}`;
    sent.push({ id: (i % 2 ? alice : carol).send('chat', { text }), text });
  }
  for (const { id } of sent.slice(-2)) await Promise.all([alice, carol].map((who) => who.untilId(id)));
  bob.resume();
  const order = (who) => who.heard().filter(({ kind }) => kind === 'chat');
  await eventually(() => order(bob).length === sent.length && order(carol).length === sent.length,
    'not all has arrived');
  assert.deepEqual(order(bob).map(({ id }) => id), order(carol).map(({ id }) => id));
  for (const { id, text } of sent) {
    assert.equal(order(bob).find((envelope) => envelope.id === id).payload.text, text);
  }
  await Promise.all([alice, bob, carol].map((who) => who.close()));
  assert.equal(bob.closed.code, 1000);
});

/** Says bytes over TLS, each in a record of its own, all records in one write; prints the answer. */
const BYTE_BY_BYTE = `
import socket, ssl, sys
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
tls, tcp = context.wrap_bio(into, out), socket.create_connection(('127.0.0.1', int(sys.argv[1])))
while True:
    try:
        tls.do_handshake()
        break
    except ssl.SSLWantReadError:
        tcp.sendall(out.read())
        into.write(tcp.recv(65536))
for byte in sys.stdin.buffer.read():
    tls.write(bytes([byte]))
tcp.sendall(out.read())
while tcp.recv(65536):
    pass
`;

test('what is said in records of one byte arrives whole, and others are heard meanwhile', async (t) => {
  const router = await start(t);
  const watcher = await member(router, 'watcher');
  const frame = (text) => Buffer.concat([Buffer.from([0x81, 0xfe, text.length >> 8,
    text.length & 255, 0, 0, 0, 0]), Buffer.from(text)]);
  const ids = Array.from({ length: 100 }, () => randomUUID());
  const request = ['GET /ws?topic=room HTTP/1.1', 'Host: router', 'Connection: Upgrade', 'Upgrade: websocket',
    'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${await router.token('slow', 'room')}`, '', ''].join('\r\n');
  const frames = ids.map((id) => frame(JSON.stringify({ protocol: 'mcpx/v0.1', id, kind: 'chat',
    ts: new Date().toISOString(), payload: { text: 'x'.repeat(100) } })));
  const said = run('python3', ['-c', BYTE_BY_BYTE, router.port], { input: Buffer.concat(
    [Buffer.from(request), ...frames, Buffer.from([0x88, 0x80, 0, 0, 0, 0])]) });
  await Promise.race([watcher.untilId(ids[0]), said.then(({ code, stderr }) => assert.equal(code, 0, stderr))]);
  const meanwhile = watcher.send('chat', { text: 'meanwhile' });
  await watcher.untilId(meanwhile);
  await watcher.untilId(ids.at(-1));
  const heard = watcher.heard().filter(({ from }) => from === 'slow').map(({ id }) => id);
  assert.deepEqual(heard.filter((id) => ids.includes(id)), ids);
  assert.equal((await said).code, 0);
});

test('certificates change under load, and nobody is cut and nothing is lost', async (t) => {
  const router = await start(t);
  const { certificates } = router;
  certificates.make('two').make('three', { key: 'rsa' });
  const members = await Promise.all(Array.from({ length: 20 }, (_, i) => member(router, `m${i}`)));
  const ids = [];
  const sender = setInterval(() => ids.push(members[ids.length % 20].send('chat', { n: ids.length })), 2);
  t.after(() => clearInterval(sender));
  const shown = () => inTime(new Promise((done, fail) => {
    const socket = connectTls({ host: '127.0.0.1', port: router.port, rejectUnauthorized: false }, () => {
      done(socket.getPeerCertificate().fingerprint256);
      socket.end();
    }).on('error', fail);
  }), 'no handshake');
  const first = await shown();

  certificates.become('two', 'live'); /* noticed by itself */
  await eventually(() => /event=tls_files_read/.test(router.log), 'the change was not noticed');
  const second = await shown();
  assert.notEqual(second, first);

  certificates.become('three', 'live', { key: 'one' }); /* they do not belong together */
  process.kill(router.pid, 'SIGHUP');
  await eventually(() => /event=tls_files_unusable/.test(router.log), 'the fault was not noticed');
  assert.match(router.log, /tls\.key_file: \S*live\.key: does not belong to tls\.certificate_file/);
  assert.equal(await shown(), second);
  assert.equal(await router.metric('mcpx_tls_files_unusable'), 1);

  for (const name of ['three', 'one', 'two', 'one']) {
    const lines = router.log.match(/event=tls_files_read/g).length;
    certificates.become(name, 'live');
    process.kill(router.pid, 'SIGHUP');
    await eventually(() => router.log.match(/event=tls_files_read/g).length > lines, 'no second reading');
    await (await member(router, 'late')).close();
  }
  assert.equal(await shown(), first);
  assert.equal(await router.metric('mcpx_tls_files_unusable'), 0);
  assert.ok(await router.metric('mcpx_tls_certificate_expiry_seconds') > Date.now() / 1000);

  clearInterval(sender);
  assert.ok(ids.length > 50);
  for (const one of members) {
    await one.untilId(ids.at(-1));
    assert.equal(one.closed, undefined);
    assert.deepEqual(one.heard().filter(({ kind }) => kind === 'chat').map(({ id }) => id).sort(),
      [...ids].sort());
    await one.close();
  }
});

test('new files of the same size, with the times of the old ones, are noticed, and audited', async (t) => {
  const router = await start(t, { audit: AUDIT, files: auditKey() });
  const { certificates } = router;
  const whole = (name) => certificates.text(name).padEnd(8192, '\n');
  const place = (name) => ['pem', 'key'].forEach((end) => {
    writeFileSync(certificates.path(`live.${end}`), whole(`${name}.${end}`));
    execFileSync('touch', ['-d', '2026-01-01', certificates.path(`live.${end}`)]);
  });
  const read = (times) => eventually(() => router.log.match(/event=tls_files_read/g)?.length === times,
    `not read ${times} times`);
  certificates.make('two');
  place('one');
  await read(1);
  place('two');
  await read(2);
  const told = () => router.audit()
    .filter(({ what, reason }) => what === 'keys' && reason === '/tls');
  await eventually(() => told().length === 2, 'each is a line in the audit');
});

/* The files have changed while no descriptor was left, and do not change when there is one. */
test('files that cannot be read for a moment are read once they can be', async (t) => {
  const router = await start(t);
  const limit = (most) => execFileSync('prlimit', ['--pid', `${router.pid}`, `--nofile=${most}:`]);
  router.certificates.make('two');
  limit(5);
  router.certificates.become('two', 'live');
  await eventually(() => router.log.includes('event=tls_files_unusable'), 'it was not noticed');
  limit(1024);
  await eventually(() => router.log.includes('event=tls_files_read'), 'they were not read again');
  assert.equal(router.log.match(/event=tls_files_unusable/g).length, 1, 'it is said once');
  await (await member(router, 'late')).close();
});

test('who speaks the other language is told so', async (t) => {
  const router = await start(t);
  const plain = Number(new URL(router.url).port);
  const answer = await say(router.port, 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 400 .*this port speaks TLS; use https:/s);
  await assert.rejects(inTime(new Promise((done, fail) => {
    connectTls({ host: '127.0.0.1', port: plain, rejectUnauthorized: false }, done).on('error', fail);
  }), 'no end'));
  await eventually(() => /event=tls_on_plain_port .*has no tls:\/\/ before it/.test(router.log), 'no line');
  assert.match(await say(router.port, Buffer.alloc(600, 'nonsense')), /^(\x15|$)/);
});

test('an answer ends with a word, and a client that says goodbye is let go', async (t) => {
  const router = await start(t);
  const answer = await inTime(new Promise((done, fail) => {
    const parts = [];
    const socket = connectTls({ host: '127.0.0.1', port: router.port, rejectUnauthorized: false }, () => {
      for (const byte of 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n') socket.write(byte);
    });
    socket.on('data', (part) => parts.push(part)).on('error', fail);
    socket.on('end', () => done(Buffer.concat(parts).toString()));
  }), 'no close_notify');
  const [head, body] = answer.split('\r\n\r\n');
  assert.equal(Number(/Content-Length: (\d+)/i.exec(head)[1]), Buffer.byteLength(body));
  await ends(sClient(router));
});

test('handshakes that are never finished keep nobody from coming in', async (t) => {
  const router = await start(t);
  const early = await member(router, 'member');
  const hello = await clientHello();
  const strangers = Array.from({ length: 600 }, (_, i) => connect(router.port, '127.0.0.1', function say() {
    this.write(i % 2 ? hello : hello.subarray(0, 40));
  }).on('error', () => {}));
  t.after(() => strangers.forEach((stranger) => stranger.destroy()));
  const late = await member(router, 'late');
  await early.untilId(late.send('chat', { text: 'here' }));
  await Promise.all([early, late].map((who) => who.close()));
});

test('our own client comes in, and refuses whom it does not know', async (t) => {
  const router = await start(t);
  const token = await router.token('me', 'room');
  const url = `wss://localhost:${router.port}`;
  const ctl = (...words) => mcpxctl(['status', '--url', url, ...words]);
  process.env.MCPX_TOKEN = token;
  await ends(ctl('--ca-file', router.certificates.path('live.pem')));
  const bad = await ctl();
  assert.notEqual(bad.code, 0);
  assert.match(bad.stderr, /the router's certificate is not trusted: .*self-signed certificate/);
  const plain = router.url.replace(/^ws:/, 'wss:');
  for (const verb of [['status'], ['say', 'hello', '--topic', 'room']]) {
    await ends(mcpxctl([...verb, '--url', plain]), 5, /the TLS handshake failed.*; use ws:\/\/ for a port without TLS/);
  }
});

test('--check looks at certificate and key', async (t) => {
  const certificates = new Certificates(t).make('one', { days: 30 }).make('two').makeExpired('old')
    .make('staple', { days: 30, more: ['tlsfeature=status_request'] });
  execFileSync('openssl', ['pkey', '-in', certificates.path('one.key'), '-aes128', '-passout', 'pass:x', '-out',
    certificates.path('locked.key')], { stdio: 'pipe' });
  const check = (certificate, key) => run('env', [`MCPX_TLS_CERTIFICATE_FILE=${certificates.path(certificate)}`,
    `MCPX_TLS_KEY_FILE=${certificates.path(key)}`, routerBinary(), '--listen', 'tls://127.0.0.1:0', '--check']);
  for (const [certificate, key, code, line] of [
    ['one.pem', 'one.key', 0, /^(?!.*tls)/s],
    ['one.pem', 'two.key', 1, /^tls\.key_file: \S+two\.key: does not belong to tls\.certificate_file/m],
    ['none.pem', 'one.key', 1, /^tls\.certificate_file: \S+none\.pem: No such file or directory$/m],
    ['one.key', 'one.key', 1, /^tls\.certificate_file: \S+one\.key: no start line$/m],
    ['one.pem', 'one.pem', 1, /^tls\.key_file: \S+one\.pem: no key in PEM form was found$/m],
    ['one.pem', 'locked.key', 1, /^tls\.key_file: \S+locked\.key: it is protected by a passphrase/m],
    ['two.pem', 'two.key', 0, /^tls\.certificate_file: \S+two\.pem: ends in [12] days; expected one that is good for 14 days more$/m],
    ['old.pem', 'old.key', 0, /^tls\.certificate_file: \S+old\.pem: has expired/m],
    ['staple.pem', 'staple.key', 0, /^tls\.certificate_file: \S+staple\.pem: says that clients shall refuse it without/m],
  ]) {
    const { code: got, stderr } = await check(certificate, key);
    assert.equal(got, code, stderr);
    assert.match(stderr, line);
  }
  assert.match((await check('one.pem', 'one.key')).stdout, /^bound: bytes that TLS takes of one connection: 48 KiB$/m);
  assert.match((await check('one.pem', 'one.key')).stdout,
    /^certificate: \S+one\.pem: dns:localhost cn:localhost ends 20\S+Z, in (29|30) days$/m);
  chmodSync(certificates.path('one.key'), 0o644);
  assert.match((await check('one.pem', 'one.key')).stderr, /^tls\.key_file: .*everybody on this machine may read it/m);
});
