/*
 * conformance.mjs - both official MCP conformance suites against the same server in two places:
 *
 *     stdio     its standard input and output behind lib/http_adapter.mjs
 *     topic     the same adapter before `mcpx-bridge expose`, whose topic has the server behind
 *               `mcpx-bridge import`
 *
 * What a suite thinks of a server is that server's business; that it thinks the same in both places is
 * ours. `topic` must equal `stdio` in every scenario, or be KNOWN not to. The suites have deadlines of their
 * own, so a difference counts that is there in each of TRIES. Exit code 77 means skipped: a suite or the
 * Node.js it needs could not be had.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpAdapter } from './lib/http_adapter.mjs';
import { readyImport } from './lib/import.mjs';
import { programBinary, run } from './lib/program.mjs';
import { ownServer, serverProgram } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const NODE22 = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath
  : join(HERE, 'suite/node_modules/node/bin/node');
const suite = (name) => join(HERE, 'suite/node_modules', name, 'dist/index.js');
const FIRST = [suite('@modelcontextprotocol/conformance')];
const NEXT = [suite('conformance-next')];
const TOPIC = 'conformance';
const TRIES = 3;

const EVERYTHING = ['everything', process.execPath, serverProgram('server-everything'), 'stdio'];
const SUITE = ['suite', ...ownServer('suite_server', 'stdio')];
const RUNS = [
  [FIRST, [], EVERYTHING], [FIRST, [], SUITE],
  [NEXT, ['--requirements', '2025-11-25'], EVERYTHING], [NEXT, ['--requirements', '2025-11-25'], SUITE],
  [NEXT, ['--requirements', '2026-07-28'], ['modern', ...ownServer('suite_modern')]],
];

/* What is not as on the pipe: scenario -> why. */
const KNOWN = { 'tasks-required-task-error': 'the bridge makes the task for a client that has none' };

/** Scenario -> "N passed, M failed" for the server at `url`. */
async function score(how, url) {
  const { stdout, stderr } = await run(NODE22, [...how, '--url', url], { timeout: 500000 });
  const text = stdout + stderr;
  const rows = [...text.matchAll(/^[^\w\n]*((?!Total)[\w-]+): (\d+ passed, \d+ failed)/gm)];
  if (rows.length === 0) throw new Error(`the suite printed no score:\n${text.slice(-4000)}`);
  return new Map(rows.map(([, scenario, result]) => [scenario, result]));
}

async function behindAdapter(how, command) {
  const adapter = await HttpAdapter.start(command);
  try {
    return await score(how, adapter.url);
  } finally {
    await adapter.close();
  }
}

async function throughTopic(how, name, program) {
  const ends = [];
  const here = { after: (end) => ends.unshift(end) };
  const router = await Router.startFor(here);
  try {
    await readyImport(here, router, TOPIC, name, program);
    return await behindAdapter(how, (n) => [programBinary('mcpx-bridge'), 'expose', '--url', router.url,
      '--topic', TOPIC, '--as', `client-${n}`, '--room', 'no', '--names', 'plain', '--only', name]);
  } finally {
    for (const end of ends) await end();
  }
}

function total(scores) {
  return [...scores.values()].map((text) => text.match(/\d+/g).map(Number))
    .reduce(([passed, failed], [p, f]) => [passed + p, failed + f], [0, 0]);
}

/** Prints the table; returns how many scenarios differ between pipe and topic. */
function compare(name, places) {
  const scenarios = new Set(Object.values(places).flatMap((scores) => [...scores.keys()]));
  let wrong = 0;
  console.log(`${name}: ${scenarios.size} scenarios`);
  for (const [place, scores] of Object.entries(places)) {
    const [passed, failed] = total(scores);
    console.log(`  ${place.padEnd(6)} ${passed} passed, ${failed} failed`);
  }
  for (const scenario of scenarios) {
    const [stdio, topic] = [places.stdio, places.topic].map((scores) => scores.get(scenario));
    if (stdio === topic) continue;
    if (!KNOWN[scenario]) wrong += 1;
    console.log(`  ${scenario}: ${stdio} on the pipe, ${topic} in the topic. ${KNOWN[scenario] ?? ''}`);
  }
  return wrong;
}

async function main() {
  const needed = [NODE22, ...FIRST, ...NEXT];
  if (!needed.every(existsSync) || (await run(NODE22, ['--version'])).code !== 0) {
    console.error('SKIPPED: NO conformance run: an official suite or the Node.js 22 it needs is\n'
      + '         missing. tests/e2e/run.sh conformance fetches both from the npm registry.');
    return 77;
  }
  let wrong = 0;
  for (const [program, words, [name, ...server]] of RUNS) {
    const how = [...program, 'server', ...words];
    let differing;
    for (let i = 0; i < TRIES && differing !== 0; i += 1) {
      differing = compare([name, ...words].join(' '), { stdio: await behindAdapter(how, () => server),
        topic: await throughTopic(how, name, server) });
    }
    wrong += differing;
  }
  console.log(wrong === 0 ? 'pipe and topic score the same in every scenario'
    : `FAILED: ${wrong} scenarios score differently through the topic`);
  return wrong === 0 ? 0 : 1;
}

process.exitCode = await main();
