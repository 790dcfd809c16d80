/*
 * The story: a server in JavaScript digests its results itself, and `mcpxctl digest` confirms what it
 * recorded, however the document was written meanwhile. Node's own JSON.stringify writes numbers and
 * strings as RFC 8785 wants them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { programBinary } from './lib/program.mjs';

const DOCUMENTS = 20;
const VALUES = 1500;

/* mulberry32: the same documents in every run. */
let state = 8785;
function below(bound) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % bound;
}
const one = (list) => list[below(list.length)];

function randomDouble() {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint32(0, below(2 ** 32));
  bytes.setUint32(4, below(2 ** 32));
  const value = bytes.getFloat64(0);
  return Number.isFinite(value) ? value : 0;
}

const randomNumber = () => one([
  () => below(1000) - 500, () => below(2 ** 32) * below(2 ** 21), () => below(100000) / 1000,
  () => below(1000) * 10 ** (below(60) - 30), randomDouble])();

/* Signs of every length and kind; no halves of surrogate pairs. */
const SIGNS = ['"', '\\', '/', '\b', '\f', '\n', '\r', '\t', '\0', '\x1f', '\x7f', ' ', 'a', 'Z', '\x80', 'é', '€',
  '\u2028', '\ud7ff', '\ue000', 'דּ', '\uffff', '😀', '\u{10ffff}'];
const randomString = () => Array.from({ length: below(6) }, () => one(SIGNS)).join('');

function randomValue(depth) {
  switch (below(depth > 0 ? 8 : 5)) {
    case 0: return one([null, true, false]);
    case 1: case 2: return randomNumber();
    case 3: case 4: return randomString();
    case 5: return Array.from({ length: below(4) }, () => randomValue(depth - 1));
    default: return Object.fromEntries(
      Array.from({ length: below(6) }, () => [randomString(), randomValue(depth - 1)]));
  }
}

/* Names by code point; Node's sort() would take UTF-16. */
const byCodePoint = ([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b));

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).sort(byCodePoint);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

const space = () => one(['', '', ' ', '\n', '\t ', '\r\n']);

/* The same decimal with another exponent and more zeros. */
function awkwardNumber(value) {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(JSON.stringify(value));
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '');
  const power = Number(exponent) - fraction.length;
  return one([
    () => `${sign}${digits}${one(['e', 'E', 'e+'])}${power}`.replace('+-', '-'),
    () => `${sign}${digits}000e${power - 3}`,
    () => `${sign}0.00${digits}E${power + digits.length + 2}`,
    () => `${sign}${whole}.${fraction}00e${exponent}`,
    () => JSON.stringify(value)])();
}

const escaped = (unit) => `\\u${one([(hex) => hex, (hex) => hex.toUpperCase()])(
  unit.charCodeAt(0).toString(16).padStart(4, '0'))}`;
const awkwardString = (text) => `"${text.split('').map((unit) => (below(3) > 0 ? escaped(unit) : null)
  ?? (unit === '/' ? '\\/' : /[\ud800-\udfff]/.test(unit) ? escaped(unit) : JSON.stringify(unit).slice(1, -1)))
  .join('')}"`;

/* The same value as nobody writes it: members in disorder, escapes, zeros, white space. */
function awkward(value) {
  const items = (list) => list.map((item) => space() + item + space()).join(',');
  if (typeof value === 'number') return awkwardNumber(value);
  if (typeof value === 'string') return awkwardString(value);
  if (value === null || typeof value === 'boolean') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${items(value.map(awkward))}]`;
  return `{${items(Object.entries(value).reverse()
    .map(([name, member]) => `${awkwardString(name)}${space()}:${space()}${awkward(member)}`))}}`;
}

const digest = (input, ...options) => execFileSync(programBinary('mcpxctl'), ['digest', ...options],
  { input, encoding: 'utf8', maxBuffer: 1 << 26 });

test('R000-21: the digest is the one that a program in JavaScript computes', () => {
  for (let i = 0; i < DOCUMENTS; i++) {
    const document = Array.from({ length: VALUES }, () => randomValue(4));
    const form = canonical(document);
    const sha256 = createHash('sha256').update(form).digest('hex');
    const answer = JSON.parse(digest(awkward(document), '--json'));
    assert.equal(answer.canonical, form, `document ${i}`);
    assert.deepEqual(answer, { sha256, bytes: Buffer.byteLength(form), canonical: form });
    assert.equal(digest(form), `${sha256}\n`);
  }
});

test('R002-7: a schema has one fingerprint, whatever the order of its members', () => {
  const schema = { type: 'object', properties: { a: { type: 'number', minimum: 0.5 }, b: {} }, required: ['a'] };
  const fingerprints = Array.from({ length: 20 }, () => digest(awkward(schema)));
  assert.equal(new Set(fingerprints).size, 1);
  assert.equal(digest('{"type":"object"}'),
    'a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0\n');
});
