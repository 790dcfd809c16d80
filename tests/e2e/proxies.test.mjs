/*
 * What breaks for whom: an operator behind a proxy whose limits all fall on the proxy, or whose log
 * cannot tell people apart; everybody, when a stranger can say whom his connections are from. The
 * recipes are those of docs/proxies.md, with other ports and paths.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Certificates } from './lib/certificates.mjs';
import { folderFor } from './lib/folder.mjs';
import { Participant } from './lib/participant.mjs';
import { Program } from './lib/program.mjs';
import { say } from './lib/relay.mjs';
import { eventually, freePort, inTime, Router } from './lib/router.mjs';

const PAGE = readFileSync(new URL('../../docs/proxies.md', import.meta.url), 'utf8');
const GET = 'GET /v0.1/topics HTTP/1.1\r\nHost: a\r\n';
const V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const v2 = (source, extra = Buffer.alloc(0)) => Buffer.concat([V2, Buffer.from([0x21, 0x11, 0,
  12 + extra.length, ...source, 192, 0, 2, 99, 0x13, 0x88, 0, 80]), extra]);

async function start(t, { args = [], ...config } = {}) {
  const router = await Router.startFor(t, { config, args: ['--dev', '--listen', '127.0.0.1:0', ...args] });
  router.port = Number(new URL(router.url).port);
  return router;
}

/** The log comes by a pipe: a line may be later than what it is about. */
const logged = (router, pattern) => eventually(() => pattern.test(router.log), () => `no ${pattern} in\n${router.log}`);

test('a header of a trusted proxy says whom a request is from', async (t) => {
  const router = await start(t, { trusted_proxies: ['127.0.0.0/8'] });
  for (const [field, remote] of [
    ['X-Forwarded-For: 192.0.2.1', '192.0.2.1'],
    ['X-Forwarded-For: 6.6.6.6, 192.0.2.2', '192.0.2.2'],
    ['x-forwarded-for: 2001:db8:0:1:2::3', '2001:db8:0:1:2::3'],
    ['Forwarded: for=6.6.6.6', '127.0.0.1'],
  ]) {
    assert.match(await say(router.port, `${GET}${field}\r\n\r\n`), /^HTTP\/1\.1 401 /);
    await logged(router, new RegExp(`event=refused .*remote="${remote}"`));
  }
  assert.doesNotMatch(router.log, /remote="6\.6\.6\.6"/);
});

test('from anybody else it means nothing, and a PROXY head is no request', async (t) => {
  for (const proxy_address of ['x-forwarded-for', 'forwarded', 'proxy-protocol']) {
    const router = await start(t, { trusted_proxies: ['192.0.2.0/24'], proxy_address });
    const fields = 'X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n';
    assert.match(await say(router.port, `${GET}${fields}\r\n`), /^HTTP\/1\.1 401 /);
    assert.match(await say(router.port, `PROXY TCP4 6.6.6.6 192.0.2.2 1 2\r\n${GET}\r\n`), /^HTTP\/1\.1 400 /);
    assert.match(await say(router.port, Buffer.concat([v2([6, 6, 6, 6]), Buffer.from(`${GET}\r\n`)])), /^HTTP\/1\.1 400 /);
    await logged(router, /event=refused .*remote="127\.0\.0\.1"/);
    assert.doesNotMatch(router.log, /6\.6\.6\.6/);
  }
});

test('a PROXY head says it before everything else, and has to', async (t) => {
  const router = await start(t, { trusted_proxies: ['127.0.0.1'], proxy_address: 'proxy-protocol' });
  const request = `${GET}X-Forwarded-For: 6.6.6.6\r\n\r\n`;
  for (const [pieces, remote] of [
    [[`PROXY TCP4 192.0.2.1 192.0.2.9 5000 80\r\n${request}`], '192.0.2.1'],
    [['PROXY TCP4 192.0.2.2 192.0', '.2.9 5000 80\r', '\n', request], '192.0.2.2'],
    [[...`PROXY TCP6 2001:db8::7 ::1 1 2\r\n${request}`], '2001:db8::7'],
    [[v2([192, 0, 2, 3]), request], '192.0.2.3'],
    [[v2([192, 0, 2, 4], Buffer.from([4, 0, 1, 0])), request], '192.0.2.4'],
    [[Buffer.concat([v2([192, 0, 2, 5]), Buffer.from(request)])], '192.0.2.5'],
    [[`PROXY UNKNOWN\r\n${request}`], '127.0.0.1'],
    [[Buffer.concat([V2, Buffer.from([0x20, 0, 0, 0])]), request], '127.0.0.1'],
  ]) {
    assert.match(await say(router.port, ...pieces), /^HTTP\/1\.1 401 /, remote);
    await logged(router, new RegExp(`event=refused .*remote="${remote}"`));
  }
  for (const pieces of [[request], ['PROXY TCP4 1.2.3 4 5 6\r\n', request], ['PROXY TCP4 1.2', '.3\r\n'], ['PROXY '.padEnd(200, 'x')],
    ['\x16\x03\x01\x02'], [V2, Buffer.from([0x21, 0x11, 0xff, 0xff])]]) {
    assert.match(await say(router.port, ...pieces), /^HTTP\/1\.1 400 .*has to begin with a PROXY head/s);
  }
  await logged(router, /event=proxy_head_bad /);
  assert.doesNotMatch(router.log, /6\.6\.6\.6/);
});

test('it also comes before TLS', async (t) => {
  const certificates = new Certificates(t).make('live');
  const router = await start(t, { trusted_proxies: ['127.0.0.1'], proxy_address: 'proxy-protocol',
    args: ['--listen', 'tls://127.0.0.1:0'], tls: certificates.settings() });
  const answer = await inTime(new Promise((done, fail) => {
    const parts = [];
    const below = connect(Number(new URL(router.urls[1]).port), '127.0.0.1', () => {
      below.write('PROXY TCP4 192.0.2.77 192.0.2.9 5000 80\r\n');
      const socket = connectTls({ socket: below, rejectUnauthorized: false }, () => socket.write(`${GET}\r\n`));
      socket.on('data', (part) => parts.push(part)).on('error', fail);
      socket.on('end', () => done(Buffer.concat(parts).toString()));
    });
  }), 'no answer');
  assert.match(answer, /^HTTP\/1\.1 401 /);
  await logged(router, /event=refused .*remote="192\.0\.2\.77"/);
});

test('each address behind the proxy has a rate of its own, and the proxy none', async (t) => {
  const router = await start(t, { trusted_proxies: ['127.0.0.1'], limits: { connects_per_s: 2 } });
  const ask = (address) => say(router.port, `${GET}X-Forwarded-For: ${address}\r\n\r\n`);
  const greedy = await Promise.all(Array.from({ length: 20 }, () => ask('192.0.2.1')));
  assert.ok(greedy.some((answer) => /^HTTP\/1\.1 429 /.test(answer)));
  for (let i = 10; i < 16; i++) assert.match(await ask(`192.0.2.${i}`), /^HTTP\/1\.1 401 /);
  await logged(router, /event=turned_away .*remote="192\.0\.2\.1"/);
});

test('networks are written exactly', async () => {
  for (const text of ['localhost', '10.0.0.1/8', '10.0.0.0/33', '::/129', '10.0.0.0/', '']) {
    await assert.rejects(Router.start({ config: { trusted_proxies: [text] }, args: ['--dev'] }),
      /\/trusted_proxies\/0: /, text);
  }
});

/* ---- the recipes ---- */

const has = (program) => {
  try {
    return Boolean(execFileSync('/bin/sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`]).length);
  } catch {
    return false;
  }
};
const recipe = (language) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(PAGE)[1];

const RECIPES = {
  nginx: {
    make: (folder, text) => `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/log;
      events { worker_connections 256; }
      http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((what) => `${what}_temp_path ${folder}/${what};`).join(' ')}\n${text}}`,
    args: (file, folder) => ['-c', file, '-p', folder, '-e', `${folder}/log`],
  },
  haproxy: {
    settings: { proxy_address: 'proxy-protocol' },
    make: (folder, text) => text,
    args: (file) => ['-f', file, '-db'],
  },
  caddy: {
    make: (folder, text, port) => `{\nadmin off\nauto_https disable_redirects\nstorage file_system ${folder}\n}\n${
      text.replace('router.example {', `https://localhost:${port} {\n tls ${folder}/both.pem ${folder}/both.pem`)}`,
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
};

for (const [program, { settings, make, args }] of Object.entries(RECIPES)) {
  const skip = has(program) ? false : `SKIPPED: ${program} is not installed (apt-get install ${program})`;
  if (skip) console.error(skip);
  test(`the recipe for ${program} carries WebSockets and addresses`, { skip }, async (t) => {
    const router = await start(t, { trusted_proxies: ['127.0.0.1'], ...settings });
    const folder = folderFor(t);
    const certificates = new Certificates(t).make('live');
    const both = join(folder, 'both.pem');
    writeFileSync(both, certificates.text('live.pem') + certificates.text('live.key'), { mode: 0o644 });
    const port = await freePort();
    const text = recipe(program).replaceAll('127.0.0.1:8080', `127.0.0.1:${router.port}`)
      .replace(/\/etc\/ssl\/\S+\.(pem|key)/g, (path) => (path.endsWith(';') ? `${both};` : both))
      .replace(/(listen |bind :)443/, (_, word) => (word === 'listen ' ? `listen 127.0.0.2:${port}` : `bind 127.0.0.2:${port}`));
    const file = join(folder, 'conf');
    writeFileSync(file, make(folder, text, port));
    const child = Program.start(program, args(file, folder), { program, stdout: 'joined',
      env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder, XDG_DATA_HOME: folder } });
    t.after(() => { child.kill('SIGTERM'); return child.end(); });
    const host = program === 'caddy' ? '127.0.0.1' : '127.0.0.2';
    await eventually(() => new Promise((done) => {
      const socket = connect(port, host, () => { socket.destroy(); done(true); }).on('error', () => done(false));
    }), () => `${program} does not listen\n${child.log}`);

    /* From another address of loopback than the proxy's own: who asks can be told from the proxy. */
    const token = await mint(router, settings);
    const member = await Participant.join(router, { topic: 'room', token,
      url: `wss://localhost:${port}/ws`, tls: { ca: certificates.text('live.pem'), localAddress: '127.0.0.3',
        lookup: (name, options, done) => (options.all ? done(null, [{ address: host, family: 4 }]) : done(null, host, 4)) } });
    await member.untilId(member.send('chat', { text: 'x'.repeat(100000) }));
    await logged(router, /event=admitted .*remote="127\.0\.0\.3"/);
    await member.close();
    assert.equal(member.closed.code, 1000);
  });
}

/* A token, past the proxy. */
async function mint(router, settings) {
  const body = JSON.stringify({ participantId: 'me', topic: 'room' });
  const answer = await say(router.port, `${settings ? 'PROXY UNKNOWN\r\n' : ''}POST /v0.1/auth/token HTTP/1.1\r\n`
    + `Host: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return JSON.parse(answer.split('\r\n\r\n')[1]).token;
}
