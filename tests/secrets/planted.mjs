/*
 * planted.mjs - the check of secrets is checked. Each of our programs is given a secret and made to
 * write it; the check has to say where it stands. So it is in each form that a secret may have, and
 * where an exception is not meant.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Disk } from '../e2e/lib/disk.mjs';
import { folderFor } from '../e2e/lib/folder.mjs';
import { Participant } from '../e2e/lib/participant.mjs';
import { programBinary } from '../e2e/lib/program.mjs';
import { look } from './check.mjs';

/* A folder as `begin` makes it, in which programs of this process keep what they write. */
function place(t) {
  const folder = folderFor(t);
  mkdirSync(join(folder, 'outputs'));
  mkdirSync(join(folder, 'secrets'));
  process.env.MCPX_SECRETS = folder;
  return folder;
}

const planted = () => `planted-${randomBytes(24).toString('base64url')}`;
const streamsOf = ({ findings }) => [...new Set(findings.map(({ name }) => name.replace(/\.\d+\./, '.')))].sort();

/* Functions of the C library that print, send or execute. */
const WRITES = /^_*(v?[fd]?printf|perror|putc|puts|putchar|putw|fput[csw]|fwrite|p?write(v|64)*|send(to|msg|mmsg|file)?|splice|exec[lv]p?e?|posix_spawnp?|system|popen)(_chk|_unlocked)?$/;

/* Names of what a program takes from libraries, or a library has for others. */
const symbols = (file, which) => execFileSync('nm', ['-D', `--${which}-only`, file], { encoding: 'utf8' })
  .split('\n').map((line) => /(\w+)(@.*)?$/.exec(line)?.[1]).filter(Boolean);

test('the recorder stands before every function that a program writes with', () => {
  const known = new Set(symbols(process.env.LD_PRELOAD, 'defined'));
  for (const name of ['mcpx-router', 'mcpxctl', 'mcpx-bridge']) {
    const written = symbols(programBinary(name), 'undefined').filter((symbol) => WRITES.test(symbol));
    assert.ok(written.includes('write'), name);
    assert.deepEqual(written.filter((symbol) => !known.has(symbol)), [], name);
  }
});

test('what a program prints, is told and tells its child', (t) => {
  const secret = planted();
  const short = 'tok-3n:x'; /* as short as one may be that is looked for */
  const rows = [
    ['mcpx-router', ['--config', `/none/${short}`], ['arguments', 'stderr'], short],
    ['mcpx-router', ['--config', `/none/${secret}`], ['arguments', 'stderr']],
    ['mcpxctl', ['digest', `/none/${secret}`], ['arguments', 'stderr']],
    ['mcpxctl', ['can', '--help', secret], ['arguments']],
    ['mcpx-bridge', ['guard', '--url', 'ws://127.0.0.1:1/ws', '--', 'echo', secret],
      ['arguments', 'child']],
  ];
  for (const [name, args, streams, token = secret] of rows) {
    const folder = place(t);
    spawnSync(programBinary(name), args, { env: { ...process.env, MCPX_TOKEN: token } });
    assert.deepEqual(streamsOf(look(folder)), streams.map((stream) => `${name}.${stream}`), args.join(' '));
  }
});

test('what the router answers, refuses, stores and audits', async (t) => {
  const folder = place(t);
  /* The name of a topic and of a kind: they stand everywhere. */
  const secret = planted();
  process.env.MCPX_TOKEN = secret;
  t.after(() => { delete process.env.MCPX_TOKEN; });
  const disk = await Disk.make({ audit: true });
  t.after(() => disk.remove());
  const router = await disk.start();
  const ann = await Participant.join(router, { id: 'ann', topic: secret, capabilities: ['chat'] });
  ann.send('chat', { text: 'hello' });
  ann.send(`mcp/request:tools/call:${secret}`, {});
  await ann.until((e) => e.kind === 'system/error', 'a refusal');
  await router.get('/v0.1/topics', await router.token('ann', secret));
  await ann.close();
  await router.stop();
  assert.deepEqual(streamsOf(look(folder)), ['error', 'file', 'http', 'stderr'].map((s) => `mcpx-router.${s}`));
});

/* A secret as others would write it. */
function written(secret) {
  const bytes = Buffer.from(secret);
  const among = [0, 1, 2].map((before) => Buffer.concat([Buffer.alloc(before, 'x'), bytes, Buffer.from('y')]));
  return [secret, JSON.stringify({ secret }), encodeURIComponent(secret), bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(), ...['base64', 'base64url'].flatMap((form) => among.map((one) => one.toString(form)))];
}

test('every form that a secret may have, a long one and the shortest', (t) => {
  for (const secret of ['pl"nted/secret of ûsers?', 'pl"nt/d?']) {
    for (const form of written(secret)) {
      const folder = place(t);
      writeFileSync(join(folder, 'secrets', 'mcpx-router.1'), `bearer token ${Buffer.from(secret).toString('hex')}\n`);
      writeFileSync(join(folder, 'outputs', 'mcpx-router.1.stderr'), `one\ntwo ${form} three\n`);
      const { findings } = look(folder);
      assert.deepEqual(findings.map(({ line, sort }) => [line, sort]), [[2, 'bearer token']], form);
    }
  }
});

test('of a signed token the signature is looked for, and its claims', (t) => {
  const [head, claims] = ['eyJhbGciOiJIUzI1NiJ9', 'eyJwYXJ0aWNpcGFudElkIjoiYW5uIn0'];
  const signature = randomBytes(32).toString('base64url'), token = `${head}.${claims}.${signature}`;
  for (const [stream, text, count] of [
    ['stderr', head, 0], ['stderr', claims, 1], ['stderr', `${head}.${claims}`, 1], ['stderr', signature, 1],
    ['stderr', token, 2], ['http', `{"token":"${token}"}`, 0], ['http', `{"topic":"${token}"}`, 2],
    ['stderr', Buffer.from(token).toString('base64'), 2],
  ]) {
    const folder = place(t);
    writeFileSync(join(folder, 'secrets', 'mcpx-router.1'), `bearer token ${Buffer.from(token).toString('hex')}\n`);
    writeFileSync(join(folder, 'outputs', `mcpx-router.1.${stream}`), text);
    assert.equal(look(folder).findings.length, count, `${stream}: ${text}`);
  }
});

test('an exception is for one program, one stream and one place', (t) => {
  const secret = planted();
  const rows = [
    ['mcpx-router', 'http', `{"token":"${secret}"}`, 0],
    ['mcpx-router', 'http', `{"topic":"${secret}"}`, 1],
    ['mcpx-router', 'stderr', `{"token":"${secret}"}`, 1],
    ['mcpxctl', 'http', `{"token":"${secret}"}`, 1],
  ];
  for (const [program, stream, text, count] of rows) {
    const folder = place(t);
    writeFileSync(join(folder, 'secrets', `${program}.1`), `bearer token ${Buffer.from(secret).toString('hex')}\n`);
    writeFileSync(join(folder, 'outputs', `${program}.1.${stream}`), text);
    assert.equal(look(folder).findings.length, count, `${program} ${stream} ${text}`);
  }
});
