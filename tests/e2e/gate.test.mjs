/*
 * The story: a team releases its server when `mcpxctl gate` says yes. Whatever a careless release does,
 * one item says no, and it is the one whose name tells the team where to look. R004-22.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { billOfMaterials, startRelease } from './lib/release.mjs';

const ITEMS = ['handshake', 'context', 'aliases', 'telemetry', 'drift', 'sbom', 'evidence'];

/** Asks all there is to ask; `{ status, verdicts, details }` by item. */
function ask({ folder, telemetry, run }, ...more) {
  const bill = join(folder, 'sbom.json');
  if (!existsSync(bill)) writeFileSync(bill, billOfMaterials());
  const { status, stdout, stderr } = run('gate', folder, '--to', 'billing', '--json', '--telemetry', telemetry,
    '--sbom', bill, '--evidence', join(folder, 'evidence'), ...more);
  assert.equal(stderr, '');
  const lines = stdout.trimEnd().split('\n').map(JSON.parse);
  const each = (member) => Object.fromEntries(lines.map((line) => [line.item, line[member]]));
  return { status, verdicts: each('verdict'), details: each('detail') };
}

/** Exactly these items say no, and the detail of the first is as it should be. */
function expectRed(answer, red, detail) {
  const failed = Object.entries(answer.verdicts).filter(([, verdict]) => verdict !== 'pass').map(([item]) => item);
  assert.deepEqual(failed, red, JSON.stringify(answer.details, null, 1));
  assert.match(answer.details[red[0]], detail);
  assert.equal(answer.status, 1);
}

const edit = (path, change) => writeFileSync(path, change(readFileSync(path, 'utf8')));
const editJson = (path, change) => edit(path, (text) => {
  const value = JSON.parse(text);
  return JSON.stringify(change(value) ?? value);
});

test('R004-22: a server that is as it was written down may be released', async (t) => {
  const release = await startRelease(t);
  const answer = ask(release, '--release');
  assert.deepEqual(Object.keys(answer.verdicts), ITEMS);
  assert.deepEqual([...new Set(Object.values(answer.verdicts))], ['pass'], JSON.stringify(answer.details));
  assert.equal(answer.status, 0);

  const evidence = join(release.folder, 'evidence');
  const sums = readFileSync(join(evidence, 'SHA256SUMS'), 'utf8').trimEnd().split('\n').map((line) => line.split('  '));
  assert.deepEqual(sums.map(([, name]) => name).sort(), readdirSync(evidence).filter((name) => name !== 'SHA256SUMS').sort());
  const sha256 = (name) => createHash('sha256').update(readFileSync(join(evidence, name))).digest('hex');
  assert.deepEqual(sums.map(([, name]) => sha256(name)), sums.map(([sum]) => sum));
  assert.match(readFileSync(join(evidence, 'report.jsonl'), 'utf8'), /"item":"aliases","verdict":"pass"/);
  // Its script gets no token, and without python3 it says what to install.
  const path = process.env.PATH;
  t.after(() => { process.env.PATH = path; });
  process.env.PATH = release.folder;
  assert.match(release.run('gate', release.folder, '--to', 'billing').stderr, /python3 is not there: install python3/);
  writeFileSync(join(release.folder, 'python3'), '#!/bin/sh\nexport -p > "${0%/*}/environment"\n', { mode: 0o755 });
  release.run('gate', release.folder, '--to', 'billing');
  assert.doesNotMatch(readFileSync(join(release.folder, 'environment'), 'utf8'), /MCPX_TOKEN/);
});

test('each careless change of files turns one item red', async (t) => {
  const release = await startRelease(t);
  const { folder, run } = release;
  const original = join(folder, '..', `${folder.split('/').pop()}-kept`);
  cpSync(folder, original, { recursive: true });
  t.after(() => rmSync(original, { recursive: true }));

  const rows = [
    ['aliases.json', 'aliases', /stands twice/, (path) => editJson(path, (rows) => [...rows, rows[0]])],
    ['aliases.json', 'aliases', /the handshake knows no such alias/,
      (path) => editJson(path, (rows) => [{ ...rows[0], canonicalTool: rows[1].canonicalTool }])],
    ['aliases.json', 'aliases', /with its fixture the tool answers INVALID_INPUT/,
      () => editJson(join(folder, 'fixtures/month.json'), () => ({ period: 'soon' }))],
    ['aliases.json', 'aliases', /parityMode/, (path) => editJson(path, (rows) => [{ ...rows[0], parityMode: 'none' }])],
    ['aliases.json', 'aliases', /No such file/, (path) => rmSync(path)],
    ['context', 'context', /^context\/valid\/mode.json: breaks the contract context at \/mode/,
      (path) => cpSync(join(path, 'invalid/mode.json'), join(path, 'valid/mode.json'))],
    ['context', 'context', /^context\/invalid\/more.json: keeps the contract/,
      (path) => cpSync(join(path, 'valid/more.json'), join(path, 'invalid/more.json'))],
    ['capabilities.json', 'handshake', /at \/toolNamespaces\/0\/ownerTeam/,
      (path) => editJson(path, (document) => { document.toolNamespaces[0].ownerTeam = 'somebody'; })],
    ['schemas.json', 'drift', /^billing.aws.ingest: its output schema changed$/,
      (path) => editJson(path, (tools) => { tools['billing.aws.ingest'].output = null; })],
    ['sbom.json', 'sbom', /its packages are no list with an item/,
      (path) => editJson(path, (bill) => ({ ...bill, packages: [] }))],
  ];
  ask(release);
  cpSync(join(folder, 'sbom.json'), join(original, 'sbom.json'));
  for (const [name, item, detail, change] of rows) {
    change(join(folder, name));
    expectRed(ask(release), [item], detail);
    rmSync(join(folder, 'context'), { recursive: true });
    for (const kept of [name, 'context', 'fixtures']) cpSync(join(original, kept), join(folder, kept), { recursive: true });
  }

  const called = run('call', 'billing.aws.ingest', '{"period":"2026-10"}', '--to', 'billing', '--meta',
    JSON.stringify({ 'io.mcpx/context': JSON.parse(readFileSync(join(folder, 'context/valid/complete.json'))) }));
  assert.equal(called.status, 0, called.stderr);
  edit(release.telemetry, (text) => text.replace(/.*"mcp.tool.result".*\n$/, ''));
  expectRed(ask(release), ['telemetry'], /^line \d+: this call has no result$/);
});

test('a tool that is added, and a schema that is changed, are seen', async (t) => {
  expectRed(ask(await startRelease(t, { words: ['more'] })), ['handshake', 'drift'], /differs from .* at \/compatibility\/aliases/);
  const answer = ask(await startRelease(t, { words: ['other'] }));
  expectRed(answer, ['drift'], /^billing.aws.ingest: its input schema changed; billing.azure.ingest: its /);
});

test('what is skipped holds back a release and nothing else', async (t) => {
  const { folder, run } = await startRelease(t);
  const gate = (...more) => run('gate', folder, '--to', 'billing', ...more);
  const skipped = gate();
  assert.equal(skipped.status, 0, skipped.stdout);
  assert.match(skipped.stdout, /^pass {2}drift {6}tools: 5$/m);
  assert.match(skipped.stdout, /^skip {2}telemetry {2}--telemetry FILE names/m);
  assert.equal(gate('--release').status, 1);
  const two = gate('--release', '--only', 'drift', '--only', 'handshake', '--json');
  assert.equal(two.status, 0, two.stdout);
  assert.deepEqual(two.stdout.trimEnd().split('\n').map((line) => JSON.parse(line).item), ['handshake', 'drift']);
  renameSync(join(folder, 'context/invalid'), join(folder, 'context/other'));
  assert.match(gate('--only', 'context').stdout, /^skip {2}context /);

  for (const name of ['capabilities.json', 'schemas.json']) rmSync(join(folder, name));
  assert.equal(gate('--only', 'drift').status, 1);
  assert.equal(gate('--update').status, 0);
  assert.equal(gate('--release', '--only', 'drift', '--only', 'handshake').status, 0);
  assert.equal(run('gate', folder, '--to', 'nobody').status, 4);
  assert.equal(run('gate', folder).status, 2);
});

test('contexts go every way that the terms know', async (t) => {
  const { folder, run, validation } = await startRelease(t, { terms: { context: { policy: 'require', in: 'arguments' } } });
  assert.match(run('gate', folder, '--to', 'billing', '--only', 'context').stdout, /^pass +context +valid: 2, invalid: 3$/m);
  const lines = readFileSync(validation, 'utf8').trimEnd().split('\n').map(JSON.parse);
  const inArguments = lines.filter(({ inputBytes }) => inputBytes > '{}'.length);
  assert.deepEqual(inArguments.map(({ error }) => error?.cause ?? null), [null, null, 'context', 'context', 'context']);
  assert.equal(lines.length, 2 * inArguments.length);
});

test('a server without terms is not ready to be released', async (t) => {
  const release = await startRelease(t, { terms: false });
  const { stdout, status } = release.run('gate', release.folder, '--to', 'billing');
  assert.equal(status, 1);
  for (const item of ['handshake', 'context', 'aliases']) assert.match(stdout, new RegExp(`^fail  ${item}`, 'm'));
});
