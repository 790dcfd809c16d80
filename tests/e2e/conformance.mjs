/*
 * conformance.mjs - the official MCP conformance suite against the same server in three places:
 *
 *     http      the server's own streamable HTTP
 *     stdio     its standard input and output behind lib/http_adapter.mjs
 *     topic     the same adapter before `mcpx-bridge expose`, whose topic has the server behind
 *               `mcpx-bridge import`
 *
 * once with server-everything, and once with a server that has what the suite asks for. What the
 * suite thinks of a server is that server's business; that it thinks the same in every place is
 * ours. `topic` must equal `stdio` in every scenario; where both differ from `http`, the pipe or the
 * adapter is the reason, and the difference is listed. The suite has deadlines of its own, so a
 * difference counts that is there in each of TRIES. Exit code 77 means skipped: the suite or the
 * Node.js it needs could not be had.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpAdapter } from './lib/http_adapter.mjs';
import { Router, freePort, inTime, routerBinary } from './lib/router.mjs';
import { serverProgram } from './lib/room.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const NODE22 = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath
  : join(HERE, 'suite/node_modules/node/bin/node');
const SUITE = join(HERE, 'suite/node_modules/@modelcontextprotocol/conformance/dist/index.js');
const BRIDGE = join(dirname(routerBinary()), 'mcpx-bridge');
const TOPIC = 'conformance';
const TRIES = 3;

/* `http` is the word that makes the program serve HTTP. */
const SERVERS = [
  { name: 'everything', program: serverProgram('server-everything'), http: 'streamableHttp' },
  { name: 'suite', program: join(HERE, 'lib/suite_server.mjs'), http: 'http' },
];

/** Runs a program to its end; `{ code, text }` of what it printed. */
async function run(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => { text += part; });
  }
  const [code] = await once(child, 'close');
  return { code, text };
}

/** Scenario -> "N passed, M failed" for the server at `url`. */
async function score(url) {
  const { text } = await inTime(run(NODE22, [SUITE, 'server', '--url', url]),
    () => `the suite did not finish at ${url}`, 500000);
  const rows = [...text.matchAll(/^[^\w\n]*((?!Total)[\w-]+): (\d+ passed, \d+ failed)/gm)];
  if (rows.length === 0) throw new Error(`the suite printed no score:\n${text.slice(-4000)}`);
  return new Map(rows.map(([, scenario, result]) => [scenario, result]));
}

/** Starts a program and waits until its standard error says `pattern`. */
async function background(command, args, pattern, env = {}) {
  const child = spawn(command, args,
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let log = '';
  await inTime(new Promise((done, fail) => {
    child.stderr.setEncoding('utf8').on('data', (part) => {
      log += part;
      if (pattern.test(log)) done();
    });
    ended.then(() => fail(new Error(`${command} ended\n${log}`)));
  }), () => `${command} did not say ${pattern}\n${log}`);
  return { stop: async () => { child.kill('SIGTERM'); await ended; } };
}

async function overHttp({ http }) {
  const port = await freePort();
  const server = await background(process.execPath, http, /listening on port/, { PORT: `${port}` });
  try {
    return await score(`http://127.0.0.1:${port}/mcp`);
  } finally {
    await server.stop();
  }
}

async function behindAdapter(command) {
  const adapter = await HttpAdapter.start(command);
  try {
    return await score(adapter.url);
  } finally {
    await adapter.close();
  }
}

async function throughTopic({ name, stdio }) {
  const router = await Router.start();
  const url = router.http.replace('http:', 'ws:');
  const seat = (verb, as) => [verb, '--url', url, '--topic', TOPIC, '--as', as];
  const server = await background(BRIDGE,
    [...seat('import', name), '--', process.execPath, ...stdio], /ready/);
  try {
    return await behindAdapter((_, n) => [BRIDGE, ...seat('expose', `client-${n}`),
      '--names', 'plain', '--only', name]);
  } finally {
    await server.stop();
    await router.stop();
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
    const results = Object.entries(places).map(([place, scores]) => [place, scores.get(scenario)]);
    if (new Set(results.map(([, result]) => result)).size === 1) continue;
    if (places.stdio.get(scenario) !== places.topic.get(scenario)) wrong += 1;
    console.log(`  ${scenario}: ${results.map((pair) => pair.join(' ')).join('; ')}`);
  }
  return wrong;
}

async function main() {
  if (!existsSync(NODE22) || !existsSync(SUITE) || (await run(NODE22, ['--version'])).code !== 0) {
    console.error('SKIPPED: NO conformance run: the official suite or the Node.js 22 it needs is\n'
      + '         missing. tests/e2e/run.sh conformance fetches both from the npm registry.');
    return 77;
  }
  let wrong = 0;
  for (const { name, program, http } of SERVERS) {
    const server = { name, http: [program, http], stdio: [program, 'stdio'] };
    const direct = await overHttp(server);
    let differing;
    for (let i = 0; i < TRIES && differing !== 0; i += 1) {
      differing = compare(name, { http: direct,
        stdio: await behindAdapter(() => [process.execPath, ...server.stdio]),
        topic: await throughTopic(server) });
    }
    wrong += differing;
  }
  console.log(wrong === 0 ? 'pipe and topic score the same in every scenario'
    : `FAILED: ${wrong} scenarios score differently through the topic`);
  return wrong === 0 ? 0 : 1;
}

process.exitCode = await main();
