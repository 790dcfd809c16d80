/*
 * The story: a server declares a schema, checks its arguments with a validator from npm, and an edge
 * in front of it checks them with ours. Where the two judge one document differently, a call is
 * refused that the server would have taken, or a person is asked about one that cannot work.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12';
import '@hyperjump/json-schema/draft-07';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import { programBinary } from './lib/program.mjs';
import { maker, source } from './lib/random_schema.mjs';

const SCHEMAS = Number(process.env.MCPX_RANDOM_SCHEMAS ?? 120);
const DOCUMENTS = 20;
const SEED = Number(process.env.MCPX_RANDOM_SEED ?? 1);
/* A slow machine compares fewer schemas, but these at least. */
const PATIENCE_MS = 120000;
const SCHEMAS_MIN = Math.min(SCHEMAS, 10);

/** The verdicts of mcpxctl on documents: true, false, or null where it met a bound. */
function verdicts(file, documents) {
  const args = ['validate', 'schema', '--schema', file, '--lines', '--json'];
  const input = documents.map((document) => `${JSON.stringify(document)}\n`).join('');
  const { stdout, stderr } = spawnSync(programBinary('mcpxctl'), args, { encoding: 'utf8', input });
  assert.equal(stderr, '');
  const answers = stdout.trimEnd().split('\n').map(JSON.parse);
  assert.equal(answers.length, documents.length, stdout);
  return answers.map(({ valid, code }) => (code === 'INTERNAL_ERROR' ? null : valid));
}

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
    const folder = mkdtempSync(join(tmpdir(), 'mcpx-schemas-'));
    t.after(() => rmSync(folder, { recursive: true }));
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
