/*
 * A server checks its arguments with a validator from npm, the bridge in front of it with ours. Where
 * the two judge a document differently, a call is refused that the server would have taken. How many:
 * MCPX_RANDOM_SCHEMAS (120), MCPX_RANDOM_PATTERNS (10000); MCPX_RANDOM_SEED (1) repeats a run.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12';
import '@hyperjump/json-schema/draft-07';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import { folderFor } from './lib/folder.mjs';
import { programBinary } from './lib/program.mjs';
import { maker, patternMaker, source } from './lib/random_schema.mjs';

const SCHEMAS = Number(process.env.MCPX_RANDOM_SCHEMAS ?? 120);
const DOCUMENTS = 20;
const SEED = Number(process.env.MCPX_RANDOM_SEED ?? 1);
/* A slow machine compares fewer schemas, but these at least. */
const PATIENCE_MS = 120000;
const SCHEMAS_MIN = Math.min(SCHEMAS, 10);

/** What mcpxctl answers for each document. */
function answersOf(words, documents) {
  const input = documents.map((document) => `${JSON.stringify(document)}\n`).join('');
  const options = { encoding: 'utf8', input, maxBuffer: 1 << 28 };
  const { stdout, stderr } = spawnSync(programBinary('mcpxctl'), ['validate', ...words, '--lines', '--json'], options);
  assert.equal(stderr, '');
  const answers = stdout.trimEnd().split('\n').map(JSON.parse);
  assert.equal(answers.length, documents.length, stdout);
  return answers;
}

/** Its verdicts by a schema: true, false, or null where it met a bound. */
const verdicts = (file, documents) =>
  answersOf(['schema', '--schema', file], documents).map(({ valid, code }) => (code === 'INTERNAL_ERROR' ? null : valid));

/* What others say of the same documents; who cannot use the schema throws. */
const OTHERS = {
  ajv(schema, draft, documents) {
    const judge = new (draft === 'draft-07' ? Ajv : Ajv2020)({ strict: false, logger: false });
    const isValid = judge.compile(schema);
    return documents.map((document) => isValid(document));
  },
  async hyperjump(schema, draft, documents) {
    const uri = 'https://schemas.example/random';
    registerSchema(schema, uri);
    try {
      const judge = await validate(uri);
      return documents.map((document) => judge(document).valid);
    } finally {
      unregisterSchema(uri);
    }
  },
};

/* Of definitions that only refer to each other in a circle one of npm dies, and none knows a verdict. */
function isCircle({ $defs }) {
  const next = (name) => $defs[name]?.$ref?.slice('#/$defs/'.length);
  return Object.keys($defs).some((name) => next(name) === name || (next(name) && next(next(name)) === name));
}

/** The verdicts of those who can use the schema: `{ name: [boolean, ...] }`. */
async function opinions(...about) {
  const found = {};
  for (const [name, judge] of Object.entries(OTHERS)) {
    try {
      found[name] = await judge(...about);
    } catch { /* a schema that is none to this one */ }
  }
  return found;
}

for (const draft of ['2020-12', 'draft-07']) {
  test(`random schemas of ${draft} judge random documents as those of npm do`, async (t) => {
    t.diagnostic(`MCPX_RANDOM_SEED=${SEED} MCPX_RANDOM_SCHEMAS=${SCHEMAS}`);
    const make = maker(source(SEED), draft);
    const folder = folderFor(t);
    const file = join(folder, 'schema.json');
    const compared = { ajv: 0, hyperjump: 0, both: 0, 'they differ': 0 };
    const end = Date.now() + PATIENCE_MS;
    let tried = 0;
    while (tried < SCHEMAS && (tried < SCHEMAS_MIN || Date.now() < end)) {
      tried += 1;
      const schema = make.whole();
      const documents = Array.from({ length: DOCUMENTS }, () => make.document());
      const theirs = isCircle(schema) ? {} : await opinions(schema, draft, documents);
      const names = Object.keys(theirs);
      if (names.length === 0) continue;
      writeFileSync(file, JSON.stringify(schema));
      verdicts(file, documents).forEach((ours, at) => {
        if (ours === null) return;
        const their = theirs[names[0]][at];
        if (names.some((name) => theirs[name][at] !== their)) {
          compared['they differ'] += 1; /* one of them is wrong */
          return;
        }
        assert.equal(ours, their, `${names}: MCPX_RANDOM_SEED=${SEED}, schema ${JSON.stringify(schema)}, `
          + `document ${JSON.stringify(documents[at])}`);
        compared[names.length > 1 ? 'both' : names[0]] += 1;
      });
    }
    t.diagnostic(`${tried} schemas; documents compared: ${JSON.stringify(compared)}`);
    assert.ok(compared.both > tried * DOCUMENTS * 0.7, 'most are judged by all three');
    assert.ok(compared['they differ'] < tried * DOCUMENTS * 0.02, 'few are doubtful');
  });
}

const PATTERNS = Number(process.env.MCPX_RANDOM_PATTERNS ?? 10000);
const TEXTS = 8;
const TOGETHER = 100; /* patterns in a schema */

/* Where ECMA-262 takes a pattern and we refuse it. */
const NOT_OURS = [
  /* 22.2.2.3.1 RepeatMatcher, step 4: each repetition forgets what the groups in it have matched.
     22.2.2.3 CompileSubpattern and 22.2.2.4 CompileAssertion: what looks behind is read backwards. PCRE2 does neither. */
  /^must not refer to a group that is repeated or looks around/,
  /* 22.2.2.4 CompileAssertion: any Disjunction may look behind. PCRE2 has those of one length. */
  /that PCRE2 can match: (lookbehind assertion is not fixed length|length of lookbehind assertion is not limited)/,
  /* 22.2.1 RegExpUnicodeEscapeSequence: half a pair is a character. No text that is judged has one (RFC 8259, 8.2). */
  /^must not have half a surrogate pair/,
  /* 22.2.2.9 CharacterClassEscape, table 69: PCRE2 has other characters as Bidi_Mirrored. */
  /^must have in \\p\{\} a property of ECMA-262.*, that PCRE2 has too/,
];
/* B.1.2 Regular Expressions Patterns: without the flag u, IdentityEscape is any character, and a dash beside a class escape
   is itself (ClassAtom, ClassAtomNoDash). So browsers read both, and schemas have them. */
const WITHOUT_U = /Invalid (escape|character class)$/;

/* 22.2.7.2 RegExpBuiltinExec, AdvanceStringIndex: a match begins at a character. V8 tries halves of pairs too. */
const isFound = (expression, text) =>
  [...text, ''].some((_, at, characters) => {
    expression.lastIndex = characters.slice(0, at).join('').length;
    return expression.test(text);
  });

/** Compiled as ECMA-262 says: `{ expression, reason, isDoubtful }`. */
function compiled(pattern) {
  try {
    return { expression: new RegExp(pattern, 'uy') };
  } catch ({ message }) {
    try {
      return { reason: message, expression: WITHOUT_U.test(message) && new RegExp(pattern, 'y'), isDoubtful: true };
    } catch {
      return { reason: message };
    }
  }
}

/* Then both readings are one, as far as the flag is about characters. */
const isPlain = (text) => /^[\x00-\x7f]*$/.test(text) && !/\\[pPku]|\[\^|\\[DWS]|\./.test(text);

test('random patterns judge random texts as ECMA-262 does', async (t) => {
  t.diagnostic(`MCPX_RANDOM_SEED=${SEED} MCPX_RANDOM_PATTERNS=${PATTERNS}`);
  const make = patternMaker(source(SEED));
  const folder = folderFor(t);
  const file = join(folder, 'schema.json');
  const seen = { 'refused by both': 0, 'refused here': 0, 'taken here': 0, texts: 0, bounds: 0 };
  const patterns = Array.from({ length: PATTERNS }, make.pattern);
  const tools = patterns.map((pattern) => ({ name: 'x', inputSchema: { type: 'object', properties: { x: { pattern } } } }));
  const usable = [];
  answersOf(['tool'], tools).forEach(({ valid, errors }, at) => {
    const pattern = patterns[at];
    const { expression, reason, isDoubtful } = compiled(pattern);
    if (!valid) {
      const ours = errors[0].message;
      assert.ok(reason || NOT_OURS.some((known) => known.test(ours)), `${JSON.stringify(pattern)} is refused: ${ours}`);
      seen[reason ? 'refused by both' : 'refused here'] += 1;
      return;
    }
    assert.ok(!reason || WITHOUT_U.test(reason), `${JSON.stringify(pattern)} is taken: ${reason}`);
    if (reason) seen['taken here'] += 1;
    if (expression && (!isDoubtful || isPlain(pattern))) usable.push({ pattern, expression, isDoubtful });
  });
  for (let first = 0; first < usable.length; first += TOGETHER) {
    const some = usable.slice(first, first + TOGETHER);
    const properties = Object.fromEntries(some.map(({ pattern }, at) => [`p${at}`, { pattern }]));
    const documents = some.flatMap((_, at) => Array.from({ length: TEXTS }, () => ({ [`p${at}`]: make.text() })));
    writeFileSync(file, JSON.stringify({ properties }));
    verdicts(file, documents).forEach((ours, at) => {
      const { pattern, expression, isDoubtful } = some[Math.floor(at / TEXTS)];
      const [text] = Object.values(documents[at]);
      if (ours === null || (isDoubtful && !isPlain(text))) {
        seen.bounds += ours === null;
        return;
      }
      assert.equal(ours, isFound(expression, text), `pattern ${JSON.stringify(pattern)}, text ${JSON.stringify(text)}`);
      seen.texts += 1;
    });
  }
  t.diagnostic(JSON.stringify(seen));
  assert.ok(usable.length > PATTERNS * 0.4, 'many can be used');
  assert.ok(seen['refused here'] < PATTERNS * 0.06, 'few are refused that ECMA-262 takes');
});
