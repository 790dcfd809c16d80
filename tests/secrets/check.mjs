/*
 * check.mjs - the last test of a run: no token, ticket or key that one of our programs met stands in
 * anything that one of them wrote. `node check.mjs FOLDER` reads what recorder.c kept there. It says
 * which program, file, line and sort of secret, never the secret itself.
 *
 * A check that has nothing to look at must not pass: see ENOUGH. `--some` after the folder: other tests
 * than the end-to-end ones ran, which leave something of anything.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EXCEPTIONS } from './exceptions.mjs';
import { formsOf, SHORTEST } from './forms.mjs';
import { Search } from './search.mjs';

/* The least that a run of the end-to-end tests leaves. */
const ENOUGH = {
  secrets: 1000,
  streams: ['mcpx-router.stderr', 'mcpx-router.http', 'mcpx-router.error', 'mcpx-router.file',
    'mcpx-router.arguments', 'mcpxctl.stdout', 'mcpxctl.stderr', 'mcpx-bridge.stdout',
    'mcpx-bridge.stderr', 'mcpx-bridge.pipe', 'mcpx-bridge.child', 'mcpx-bridge.arguments'],
  sorts: ['bearer token', 'ticket in a query', 'token that the router gave',
    'ticket that the router gave', 'secret in the environment', 'key of a file',
    'line of a private key'],
};

/* What stands before the signature of a token, or before its claims. */
const UNSIGNED = /eyJ[\w-]*\.([\w-]+\.)?$/;

/* The sorts of each secret, which is in hexadecimal. */
function readSecrets(folder) {
  const sorts = new Map();
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), 'latin1').split('\n')) {
      const at = line.lastIndexOf(' ');
      const secret = line.slice(at + 1);
      if (at > 0) sorts.set(secret, (sorts.get(secret) ?? new Set()).add(line.slice(0, at)));
    }
  }
  return sorts;
}

function searchFor(secrets) {
  const search = new Search(SHORTEST);
  for (const [secret, [sort]] of secrets) {
    for (const [form, text] of formsOf(Buffer.from(secret, 'hex'))) search.add(text, { sort, form });
  }
  return search;
}

function commandOf(folder, process) {
  try {
    return readFileSync(join(folder, `${process}.arguments`), 'latin1').trim();
  } catch {
    return '';
  }
}

/* "PROGRAM.PID.STREAM" */
function partsOf(name) {
  const [, program, pid, stream] = /^(.+)\.(\d+)\.(\w+)$/.exec(name);
  return { program, stream, process: `${program}.${pid}` };
}

function isExpected(found, { program, stream, command }) {
  return EXCEPTIONS.some((row) => row.program === program && row.stream === stream
    && (row.command?.test(command) ?? true) && row.before.test(found.before));
}

/* The first line of what was found in each file, and how often more. */
function* findingsIn(folder, search) {
  for (const name of readdirSync(folder)) {
    const about = partsOf(name);
    const bytes = readFileSync(join(folder, name));
    const command = commandOf(folder, about.process);
    for (const { start, about: { sort, form } } of search.in(bytes)) {
      const before = bytes.toString('latin1', Math.max(0, start - 8192), start).replace(UNSIGNED, '');
      if (!isExpected({ before }, { ...about, command })) {
        const line = bytes.subarray(0, start).reduce((count, byte) => count + (byte === 10), 1);
        yield { name, line, sort, form, command };
      }
    }
  }
}

/** What `folder` holds: `{ findings, secrets, sorts, streams, outputs }`. */
export function look(folder) {
  const secrets = readSecrets(join(folder, 'secrets'));
  const outputs = join(folder, 'outputs');
  const search = searchFor(secrets);
  const names = readdirSync(outputs);
  return {
    findings: [...findingsIn(outputs, search)],
    secrets: secrets.size,
    sorts: new Set([...secrets.values()].flatMap((sorts) => [...sorts])),
    streams: new Set(names.map((name) => name.replace(/\.\d+\./, '.'))),
    outputs: names.length,
  };
}

/* What is missing for a check that means something. */
function* missing({ secrets, sorts, streams }, some) {
  if (some) {
    if (secrets === 0) yield 'secrets';
    if (streams.size === 0) yield 'outputs';
    return;
  }
  if (secrets < ENOUGH.secrets) yield `${ENOUGH.secrets} secrets (there are ${secrets})`;
  for (const sort of ENOUGH.sorts) if (!sorts.has(sort)) yield `a secret of the sort "${sort}"`;
  for (const stream of ENOUGH.streams) if (!streams.has(stream)) yield `an output of ${stream}`;
}

function main(folder, some) {
  const seen = look(folder);
  const secret = /[\w.-]{40,}/g;
  for (const { name, line, sort, form, command } of seen.findings.slice(0, 100)) {
    console.error(`${name}, line ${line}: a ${sort}, ${form}; ${command.replace(secret, '...')}`);
  }
  const lacking = [...missing(seen, some === '--some')];
  for (const what of lacking) console.error(`nothing was kept of what has to be there: ${what}`);
  if (lacking.length > 0) {
    console.error('this test looks at what the tests before it have left: run it with them, '
      + 'ctest -L e2e');
  }
  console.log(`${seen.secrets} secrets, ${seen.outputs} outputs in ${folder}: `
    + `${seen.findings.length} places where a secret stands and should not`);
  process.exitCode = seen.findings.length + lacking.length > 0 ? 1 : 0;
}

if (process.argv[1].endsWith('/check.mjs')) main(process.argv[2], process.argv[3]);
