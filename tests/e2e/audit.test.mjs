/*
 * The story: an auditor with nothing but a folder of the router's audit and a public key finds out
 * whether it is whole, with mcpxctl and without, asks what happened, takes it to other programs, and
 * learns what a new configuration would have decided; and whoever changed what another may send has
 * left a line with their name. docs/audit.md.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { ends, mcpxctl, programBinary } from './lib/program.mjs';
import { AUDIT, auditKey, people, Router, sha256, tokenOf } from './lib/router.mjs';

/** A folder as the router writes it, the two halves of its key, and mcpxctl. */
function audit(t, ...words) {
  const root = folderFor(t);
  const pair = generateKeyPairSync('ed25519');
  const at = (name) => join(root, name);
  writeFileSync(at('key.pem'), pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(at('key.pub'), pair.publicKey.export({ type: 'spki', format: 'pem' }));
  const make = () => execFileSync(join(dirname(programBinary('mcpxctl')), '..', 'tests', 'make_audit'),
    [at('audit'), at('key.pem'), ...words]);
  make();
  return { at, ctl: (...line) => mcpxctl(line, { cwd: root }), make, publicKey: pair.publicKey };
}

const files = (folder) => readdirSync(folder)
  .sort((a, b) => a.match(/\d+/)[0] - b.match(/\d+/)[0]).map((name) => join(folder, name));

test('a chain that mcpxctl calls whole is whole for a program that shares no line with it', async (t) => {
  const { at, ctl, make, publicKey } = audit(t, 1500);
  make(); /* a second run of the router */
  const found = await ends(ctl('audit', 'verify', 'audit', '--key', 'key.pub', '--ended', '--json'));
  const verdict = JSON.parse(found.stdout);
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const id = createHash('sha256').update(raw).digest('hex').slice(0, 16);
  let seq = 0, prev = '0'.repeat(64), checkpoints = 0;
  for (const file of files(at('audit'))) {
    for (const text of readFileSync(file, 'utf8').split(/(?<=\n)/)) {
      const line = JSON.parse(text);
      assert.equal(line.seq, seq += 1);
      assert.equal(line.prev, prev);
      if (line.what === 'checkpoint') {
        const signed = `mcpx-audit-checkpoint\n${line.seq}\n${line.time}\n${line.prev}\n`;
        assert.equal(line.key, id);
        assert.ok(verify(null, Buffer.from(signed), publicKey, Buffer.from(line.signature, 'base64')));
        checkpoints += 1;
      }
      prev = sha256(text);
    }
  }
  assert.ok(files(at('audit')).length > 1, 'no file was followed by another');
  assert.deepEqual(verdict, { folder: 'audit', whole: true, lines: seq, first_seq: 1, checkpoints,
    signed_seq: seq, uncovered: 0, last_seq: seq, last_sha256: prev });
});

test('damage is named by sort, file, line and number', async (t) => {
  const { at, ctl, make } = audit(t);
  const [file] = files(at('audit'));
  const whole = readFileSync(file, 'utf8').split(/(?<=\n)/);
  const see = async (lines) => {
    writeFileSync(file, lines.join(''));
    const { code, stdout } = await ctl('audit', 'verify', 'audit', '--key', 'key.pub', '--ended', '--json');
    const { damage, file: name, line, seq } = JSON.parse(stdout);
    return [code, damage, name, line, seq];
  };
  const named = (damage, line) => [1, damage, 'audit-1.jsonl', line, line];
  const changed = [...whole];
  changed[4] = changed[4].replace('"fs"', '"me"');
  assert.deepEqual(await see(changed), named('edit', 5));
  assert.deepEqual(await see(whole.filter((_, i) => i !== 4)), named('deletion', 5));
  assert.deepEqual(await see([...whole.slice(0, 4), whole[2], ...whole.slice(4)]), named('misplaced', 5));
  assert.deepEqual(await see([...whole.slice(0, 4), whole[5], whole[4], ...whole.slice(6)]), named('misplaced', 5));
  assert.deepEqual(await see(whole.slice(0, 4)), named('truncation', 5));
  assert.deepEqual(await see([...whole.slice(0, 4), whole[4].slice(0, 20)]), named('truncation', 5));
  writeFileSync(file, whole.join(''));
  const other = await ctl('audit', 'verify', 'audit', '--key', 'key.pub');
  assert.match(other.stdout, /^audit: whole: 13 lines, seq 1 to 13$/m);
  writeFileSync(at('new.pub'), generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
  assert.equal((await ctl('audit', 'verify', 'audit', ...Array(64).fill('--key=new.pub'), '--key=key.pub')).code, 0);
  const note = other.stdout.match(/to note +(\S+)/)[1];
  make();
  assert.equal((await ctl('audit', 'verify', 'audit', '--key', 'key.pub', '--known', note)).code, 0);
  writeFileSync(file, whole.slice(0, 9).join(''));
  await ends(ctl('audit', 'verify', 'audit', '--key', 'key.pub', '--known', note),
    1, /truncation at audit-1\.jsonl, line 10, seq 10\n.*noted elsewhere/);
});

test('what cannot be asked is said, with exit code 2', async (t) => {
  const { at, ctl } = audit(t);
  for (const [words, said] of [
    [['verify', 'audit'], /--key FILE is required/],
    [['verify', 'audit', '--key', 'key.pem'], /expected a public Ed25519 key/],
    [['verify', 'absent', '--key', 'key.pub'], /absent: No such file/],
    [['verify', '.', '--key', 'key.pub'], /there is no audit-N\.jsonl in it/],
    [['verify', 'audit', '--key', 'key.pub', '--known', '7'], /--known needs SEQ:SHA256/],
    [['query', 'audit', '--since', 'yesterday'], /--since needs a time/],
    [['query', 'audit', '--what', 'alow'], /--what is one of allow\|refuse\|join/],
    [['chain', 'audit'], /chain needs --id/], [['look', 'audit'], /needs verify\|query\|chain\|export as its first word/],
  ]) {
    const { stderr } = await ends(ctl('audit', ...words), 2, said, words.join(' '));
    assert.doesNotMatch(stderr, /PRIVATE/);
  }
  renameSync(at('audit'), at('moved'));
  assert.equal((await ctl('audit', 'chain', 'moved', '--id', 'nobody')).code, 4);
});

test('lines are found by what stands in them, and chains by who answers whom', async (t) => {
  const { ctl } = audit(t);
  const seqs = async (...words) => {
    const { stdout } = await ends(ctl('audit', ...words, '--json'));
    return stdout.split('\n').filter(Boolean).map((text) => JSON.parse(text).seq);
  };
  assert.deepEqual(await seqs('query', 'audit', '--kind', 'mcp/request:*'), [4, 9]);
  assert.deepEqual(await seqs('query', 'audit', '--from', 'ann'), [4, 6, 7]);
  assert.deepEqual(await seqs('query', 'audit', '--what', 'refuse', '--what', 'turned_away'), [9, 10]);
  assert.deepEqual(await seqs('query', 'audit', '--topic', 'work', '--since', '2026-09-21T14:13:23Z',
    '--until', '2026-09-21T14:13:25Z'), [6, 7]);
  for (const id of ['p-1', 'r-1', 's-1'])
    assert.deepEqual(await seqs('chain', 'audit', '--id', id), [3, 4, 5, 11]);
  const people = await ctl('audit', 'query', 'audit', '--what', 'refuse');
  assert.match(people.stdout, /^9 {2}\S+ {2}refuse {2}agent {2}mcp\/request:tools\/call:rm {2}in work/);
});

test('other programs get a form of theirs, and nothing a spreadsheet would execute', async (t) => {
  const { at, ctl } = audit(t);
  const lines = readFileSync(files(at('audit'))[0], 'utf8').trim().split('\n').map((text) => JSON.parse(text));
  const take = async (format) => (await ctl('audit', 'export', 'audit', '--format', format)).stdout;
  const events = (await take('cloudevents')).trim().split('\n').map((text) => JSON.parse(text));
  assert.deepEqual(events.map(({ data }) => data), lines);
  for (const event of events)
    assert.ok(event.specversion === '1.0' && event.id && event.source && event.type.startsWith('mcpx.audit.'));
  const ocsf = (await take('ocsf')).trim().split('\n').map((text) => JSON.parse(text));
  assert.deepEqual(ocsf.map(({ raw_data }) => JSON.parse(raw_data)), lines);
  for (const event of ocsf) {
    assert.equal(event.class_uid, 6003);
    assert.equal(event.type_uid, event.class_uid * 100 + event.activity_id);
    for (const required of ['actor', 'api', 'src_endpoint', 'metadata', 'time', 'severity_id', 'category_uid'])
      assert.ok(event[required] !== undefined, required);
  }
  const csv = await take('csv');
  assert.equal(csv.split('\r\n').length, lines.length + 2);
  assert.match(csv, /,"'=cmd\|' \/C calc'!A0",/);
  assert.doesNotMatch(csv, /(^|,)"?[=+@]/m);
});

test('a new configuration is compared by what it would have decided', async (t) => {
  const { at, ctl } = audit(t);
  const configure = (name, people) => {
    const participants = Object.fromEntries(Object.entries(people).map(([id, [grants, topics]], i) =>
      [id, { token_sha256: sha256(`${id}${i}`), grants, topics }]));
    writeFileSync(at(name), JSON.stringify({ participants }));
  };
  const all = { agent: [['mcp/proposal:*'], ['*']], ann: [['mcp/*', 'chat'], ['*']], fs: [['mcp/*'], ['*']] };
  configure('old.json', all);
  configure('new.json', { ...all, agent: [['mcp/*'], ['*']], ann: [['mcp/*', 'chat'], ['room-*']] });
  const same = await ends(ctl('policy', 'diff', 'old.json', 'old.json', '--audit', 'audit'));
  assert.equal(same.stdout, '0 of 6 decisions would be different\n' +
    '1 more are by participants of neither configuration, and not judged\n');
  const other = await ends(ctl('policy', 'diff', 'old.json', 'new.json', '--audit', 'audit', '--json'), 1);
  const differences = other.stdout.trim().split('\n').map((text) => JSON.parse(text));
  const of = (participant, kind, was, now, seq, to = []) =>
    ({ was, now, participant, topic: 'work', kind, to, count: 1, seq });
  assert.deepEqual(differences, [
    of('ann', 'mcp/request:tools/call:rm', 'allowed', 'forbidden', 4, ['fs']),
    of('ann', 'chat', 'allowed', 'forbidden', 6),
    of('ann~2', 'chat', 'allowed', 'forbidden', 7),
    of('agent', 'mcp/request:tools/call:rm', 'no_matching_grant', 'allowed', 9),
    { judged: 6, different: 4, unjudged: 1, otherwise: 0 },
  ]);
  const people = await ctl('policy', 'diff', 'old.json', 'new.json', '--audit', 'audit');
  assert.match(people.stdout, /^allowed now: agent {2}mcp\/request:tools\/call:rm in work$/m);
  assert.equal((await ctl('policy', 'diff', 'old.json', 'absent.json', '--audit', 'audit')).code, 2);
  assert.equal((await ctl('policy', 'diff', 'old.json', 'new.json', '--audit', '.')).code, 2);
});

test('whoever gave, took away, removed or reloaded at run time stands in the audit', async (t) => {
  const router = await Router.startFor(t, { files: auditKey(),
    config: { audit: AUDIT, participants: people({ head: ['*'], ann: ['chat'] }) } });
  router.secrets = ['token-of-'];
  const ctl = (who, ...words) => mcpxctl(words, { cwd: router.folder,
    env: { MCPX_URL: router.url, MCPX_TOPIC: 'work', MCPX_TOKEN: tokenOf(who) } });
  for (const [who, code, ...words] of [
    ['head', 0, 'grant', 'ann', 'note', '--until', '600', '--dry-run'],
    ['ann', 3, 'can', '--live', 'note'],
    ['head', 0, 'grant', 'ann', 'note', '--until', '600'],
    ['ann', 0, 'can', '--live', 'note'],
    ['ann', 3, 'grant', 'ann', 'mcp/*'],
    ['ann', 0, 'can', '--live', 'chat'],
    ['head', 0, 'revoke', 'ann', 'chat'],
    ['ann', 3, 'can', '--live', 'chat'],
    ['ann', 3, 'can', '--live', 'note', '--topic', 'another'],
    ['head', 0, 'kick', 'ann', '--for', '600', '--dry-run'],
    ['head', 0, 'kick', 'ann', '--for', '600'],
    ['head', 0, 'reload'],
  ]) {
    await ends(ctl(who, ...words), code);
  }
  const lines = async (...more) => (await ctl('head', 'audit', 'query', 'audit', ...more)).stdout
    .trim().split('\n').map((text) => text.replace(/^\d+ {2}/, '').replaceAll(/20\d\d-\S+Z/g, 'TIME'));
  const by = 'by head  address 127.0.0.1';
  assert.deepEqual(await lines('--what', 'grant', '--what', 'revoke', '--what', 'kick'), [
    `TIME  grant  ann  in work  grant note  ${by}  until TIME`,
    `TIME  revoke  ann  in work  grant chat  ${by}`,
    `TIME  kick  ann  in work  ${by}  until TIME`,
  ]);
  assert.deepEqual((await lines('--what', 'reload')).map((line) => line.replace(/was \w{16}/, 'was REV')),
    [`TIME  reload  reason was REV; participants: 0 added, 0 removed, 0 changed  ${by}`]);
  assert.match((await lines('--what', 'turned_away')).join('\n'),
    /^TIME {2}turned_away {2}ann .*error capability_violation .*admin\/grant/);
});
