/*
 * The story: somebody checks documents with another validator than ours, with the schemas that mcpxctl
 * prints: in an editor, in a build, in a program in another language. Both say the same of each
 * document, so nobody can be told twice two different things.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Ajv07 from 'ajv';
import Ajv from 'ajv/dist/2020.js';
import { folderFor } from './lib/folder.mjs';
import { officialServers } from './lib/official.mjs';
import { programBinary } from './lib/program.mjs';
import { Pipe, rpc } from './lib/wire.mjs';

const VECTORS = new URL('../unit/contract/vectors/', import.meta.url);

function mcpxctl(args, input) {
  const { status, stdout, stderr } = spawnSync(programBinary('mcpxctl'), args, { encoding: 'utf8', input });
  assert.equal(stderr, '');
  return { status, stdout };
}

/** The container that a pointer's last part is in, and that part; makes objects on the way. */
function placeOf(document, pointer) {
  const parts = pointer.split('/').slice(1);
  const last = parts.pop();
  return [parts.reduce((at, part) => (at[part] ??= {}), document), last];
}

/** Documents as texts, from the rows of a contract's vectors (tests/unit/contract/test_contracts.c). */
function documentsOf(contract) {
  const rows = readFileSync(new URL(`${contract}.jsonl`, VECTORS), 'utf8').trimEnd().split('\n').map(JSON.parse);
  let base;
  return rows.map((row) => {
    base = row.base ?? base;
    if (row.text !== undefined) return row.text;
    const document = structuredClone(base);
    for (const [pointer, value] of Object.entries(row.set ?? {})) {
      const [at, name] = placeOf(document, pointer);
      at[name] = value;
    }
    for (const pointer of row.drop ?? []) {
      const [at, name] = placeOf(document, pointer);
      delete at[name];
    }
    for (const [pointer, count] of Object.entries(row.fill ?? {})) {
      const [at, name] = placeOf(document, pointer);
      at[name] = (row.with ?? '\u{1f600}').repeat(count);
    }
    return JSON.stringify(document);
  });
}

/** What JavaScript reads as we do: neither big numbers, nor a member twice, nor half a surrogate pair. */
function survives(text) {
  try {
    return !text.includes('\\ud') && JSON.stringify(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

for (const contract of mcpxctl(['contract']).stdout.trimEnd().split('\n')) {
  test(`ajv with the printed schema judges each ${contract} as mcpxctl does`, () => {
    const { status, stdout } = mcpxctl(['contract', contract]);
    assert.equal(status, 0);
    const judge = new Ajv({ strict: false }).compile(JSON.parse(stdout));
    const documents = documentsOf(contract).filter(survives);
    const said = mcpxctl(['validate', contract, '--lines', '--json'], documents.join('\n'));
    const verdicts = said.stdout.trimEnd().split('\n').map(JSON.parse);
    assert.equal(verdicts.length, documents.length);
    documents.forEach((text, i) => {
      assert.equal(verdicts[i].valid, judge(JSON.parse(text)), `${text}: ${JSON.stringify(verdicts[i])}`);
    });
    const valid = verdicts.filter((verdict) => verdict.valid).length;
    assert.ok(valid > 0 && valid < verdicts.length, 'documents of both sorts');
  });
}

/* Whatever a program has returned and however it ended: who reads its envelope needs one schema only. */
const VALUES = ['7', 'null', '"text"', '[1, "é"]', '{"success": false, "error": "no such file", "error_code": "E_1"}',
  '{"code": "A", "message": "", "details": {"a": {"b": 1}}}', '{"schema_version": "mcp.envelope.v0.2"}'];

for (const contract of ['mcp.envelope.v0.1', 'response.v1']) {
  test(`ajv with the printed schema takes every ${contract} that mcpxctl wraps`, () => {
    const judge = new Ajv({ strict: false }).compile(JSON.parse(mcpxctl(['contract', contract]).stdout));
    for (const value of VALUES) {
      for (const ending of [[], ['--exit-code', '3'], ['--text'], ['--text', '--exit-code', '3']]) {
        const { status, stdout } = mcpxctl(['wrap', contract, '--tool', 't', '--request-id', 'r', ...ending], value);
        const envelope = JSON.parse(stdout);
        assert.equal(status, 0);
        assert.ok(judge(envelope), `${stdout}: ${JSON.stringify(judge.errors)}`);
        const came = ending.includes('--text') ? value : JSON.parse(value);
        assert.deepEqual(contract === 'response.v1' ? envelope.data : envelope.result, came);
      }
    }
  });
}

/* Beside the tools of a list stand icons, what was cut in the middle of a character, and anybody's `_meta`. */
const ODD_ENTRY = `{"name":"x","title":"cut \\ud83d","icons":[{"src":"data:,${'A'.repeat(300000)}"}],
  "_meta":{"a":1,"a":1e9999999999}},`.replace('\n', '');

test('each schema in the list of a real server judges by itself, whatever stands beside it', async (t) => {
  const folder = folderFor(t);
  const file = join(folder, 'list.json');
  let judged = 0;
  for (const { command, env, calls } of officialServers(t)) {
    const pipe = await Pipe.open(command[0], command.slice(1), env);
    const list = await pipe.call(rpc(1, 'tools/list'));
    await pipe.close();
    writeFileSync(file, list.replace('"tools":[', `"tools":[${ODD_ENTRY}`));
    JSON.parse(list).result.tools.forEach((tool, i) => {
      for (const side of ['inputSchema', 'outputSchema'].filter((name) => tool[name])) {
        const is07 = tool[side].$schema?.includes('draft-07');
        const judge = new (is07 ? Ajv07 : Ajv)({ strict: false, logger: false }).compile(tool[side]);
        const documents = [{}, [], ...calls.filter(([name]) => name === tool.name).map(([, args]) => args)];
        const words = ['validate', 'schema', '--schema', `${file}#/result/tools/${i + 1}/${side}`, '--lines', '--json'];
        const { stdout } = mcpxctl(words, documents.map((document) => JSON.stringify(document)).join('\n'));
        assert.deepEqual(stdout.trimEnd().split('\n').map((line) => JSON.parse(line).valid),
          documents.map((document) => judge(document)), `${tool.name} ${side}: ${stdout}`);
        judged += documents.length;
      }
    });
  }
  assert.ok(judged > 80, `${judged}`);
});
