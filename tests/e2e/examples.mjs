/*
 * examples.mjs - the programs of docs/examples, run as a reader runs them: each joins, is heard
 * saying hello, prints what others say, answers one request and leaves. "tls" is the C program
 * once more behind a proxy that speaks TLS. "resume" is told everything, though its line breaks.
 *
 * Usage: node examples.mjs c|node|python|resume|tls      exit code 77: something it needs is not here
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Participant } from './lib/participant.mjs';
import { Program } from './lib/program.mjs';
import { relayTo } from './lib/relay.mjs';
import { Router, routerBinary } from './lib/router.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const EXAMPLES = resolve(HERE, '../../docs/examples');
const cleanups = [];
const here = { after: (cleanup) => cleanups.unshift(cleanup) };

function temporary() {
  const folder = mkdtempSync(join(tmpdir(), 'mcpx-example-'));
  here.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function skip(text) {
  console.error(`SKIPPED: ${text}`);
  process.exit(77);
}

/* Packages are found from where a program lies. */
function besidePackages(name) {
  const folder = temporary();
  copyFileSync(join(EXAMPLES, name), join(folder, name));
  symlinkSync(join(HERE, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, name);
}

function python() {
  for (const program of ['python3', '/usr/bin/python3']) {
    if (spawnSync(program, ['-c', 'import websockets']).status === 0) return program;
  }
  return skip('no python3 with the module websockets, so docs/examples/join.py is NOT tested.\n'
    + '         Debian: apt-get install python3-websockets');
}

const commands = {
  c: () => [join(dirname(routerBinary()), '..', 'tests', 'example_join')],
  node: () => [process.execPath, besidePackages('join.mjs')],
  python: () => [python(), join(EXAMPLES, 'join.py')],
};

const run = ([program, ...args], env) => Program.start('example', args, { program, env, stdout: 'kept' });

async function visit(command, url, env = {}) {
  const topic = `example-${process.pid}`;
  const router = visit.router;
  const host = await Participant.join(router, { id: 'host', topic, capabilities: ['*'] });
  const guest = run(command, {
    ...env,
    MCPX_URL: url,
    MCPX_TOPIC: topic,
    MCPX_TOKEN: await router.token('guest', topic, ['chat', 'mcp/response:*']),
  });
  const gone = guest.end().then(({ code }) => assert.fail(`it ended with ${code}\n${guest.output}${guest.log}`));
  gone.catch(() => {});
  const { envelope: hello } = await Promise.race([gone,
    host.until((e) => e.from === 'guest' && e.kind === 'chat', 'hello')]);
  assert.deepEqual(hello.payload, { text: 'hello' });
  host.send('chat', { text: 'welcome, guest' });
  const id = host.send('mcp/request:tools/call:anything', {
    jsonrpc: '2.0', id: 'a "quoted" id', method: 'tools/call', params: { name: 'anything' },
  }, { to: ['guest'] });
  const { envelope: answer } = await host.until((e) => e.correlation_id === id, 'an answer');
  assert.equal(answer.kind, 'mcp/response:tools/call:anything');
  assert.deepEqual(answer.to, ['host']);
  assert.deepEqual(answer.payload, { jsonrpc: '2.0', id: 'a "quoted" id', result: {} });
  assert.equal((await guest.end()).code, 0, guest.log);
  assert.match(guest.output, /welcome, guest/);
  assert.match(guest.output, /mcp\/request:tools\/call:anything/);
  await host.until((e) => e.kind === 'system/presence' && e.payload.event === 'leave', 'the leave');
  await host.close();
}

/* A certificate for a host by itself, and a proxy at "localhost" that shows it. */
async function behindTls(http, host = 'localhost') {
  const folder = temporary();
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj',
    `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-keyout', key, '-out', cert],
  { stdio: 'pipe' });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  server.on('tlsClientError', () => {});
  const { port } = await relayTo(here, new URL(http).port, { server });
  return { url: `wss://localhost:${port}`, cert };
}

/* The C program tries for ever; the first thing it tells is enough. */
async function distrust(url, trusted, reason) {
  const guest = run(commands.c(), { MCPX_URL: url, MCPX_TOPIC: 't', MCPX_TOKEN: 'x',
    SSL_CERT_FILE: trusted, SSL_CERT_DIR: '/nonexistent' });
  await guest.until(/left: .*\n/);
  assert.match(guest.log, reason);
}

/* What is said while the line is cut is printed all the same, once and in order. */
async function follow(router, http) {
  const topic = `example-${process.pid}`;
  let isBroken = false;
  const line = await relayTo(here, new URL(http).port, { take: (socket) => isBroken && socket.destroy() });
  const host = await Participant.join(router, { id: 'host', topic, capabilities: ['chat'] });
  const guest = run([process.execPath, besidePackages('resume.mjs')], {
    MCPX_URL: `ws://127.0.0.1:${line.port}`, MCPX_TOPIC: topic, MCPX_TOKEN: await router.token('guest', topic, []),
  });
  const printed = () => guest.output.split('\n').slice(0, -1).map((text) => JSON.parse(text));
  const prints = (text) => guest.holds(() => printed().find((e) => e.payload.text === text), text);

  await host.until((e) => e.payload.event === 'join' && e.payload.participant.id === 'guest', 'it');
  host.send('chat', { text: 'before' });
  await prints('before');
  isBroken = true;
  line.cut();
  await host.until((e) => e.payload.event === 'leave', 'its leave');
  host.send('chat', { text: 'missed' });
  const last = host.send('chat', { text: 'missed as well' });
  await host.until((e) => e.id === last, 'the echo');
  isBroken = false;
  await prints('missed as well');
  const chats = printed().filter((e) => e.kind === 'chat').map((e) => e.payload.text);
  assert.deepEqual(chats, ['before', 'missed', 'missed as well']);
  const welcomes = printed().filter((e) => e.kind === 'system/welcome');
  assert.deepEqual(welcomes.map((e) => e.payload.resumed), [false, true]);
  line.cut();
  await host.close();
}

async function main(which) {
  const router = await Router.start();
  visit.router = router;
  const ws = router.http.replace(/^http:/, 'ws:');
  if (which === 'tls') {
    if (spawnSync('openssl', ['version']).status !== 0) skip('no openssl to make a certificate');
    const { url, cert } = await behindTls(router.http);
    await visit(commands.c(), url, { SSL_CERT_FILE: cert });
    await distrust(url, '/dev/null', /left: cannot connect to localhost:\d+: .*certificate/);
    const other = await behindTls(router.http, 'other.example');
    await distrust(other.url, other.cert, /left: cannot connect to localhost:\d+: .*(host|name)/);
  } else if (which === 'resume') {
    await follow(router, router.http);
  } else {
    await visit(commands[which](), ws);
  }
  await router.stop();
}

const which = process.argv[2];
if (!['resume', 'tls'].includes(which) && !commands[which]) {
  console.error('usage: node examples.mjs c|node|python|resume|tls');
  process.exit(2);
}
await main(which);
for (const cleanup of cleanups) cleanup();
console.log(`${which}: ${which === 'resume' ? 'missed nothing' : 'joined, heard, answered, left'}`);
process.exit(0);
