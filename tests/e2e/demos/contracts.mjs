/*
 * contracts.mjs - demo 5: a server under terms. A call that cannot work troubles nobody, an old name goes
 * on working, an answer says what it was made from, two ways in leave the same log, and one command says
 * whether the server may be released.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BILLING, SBOM } from '../lib/release.mjs';
import { DEMOS } from '../lib/stage.mjs';

export const title = 'contracts: wrong calls, old names, provenance, equal logs, and a release';

const TOOL = 'billing.aws.ingest';
const GOOD = '{"period":"2026-10","rows":3}';

const clientCalls = (config, args, name = `billing__${TOOL}`) =>
  `node ${join(DEMOS, 'client.mjs')} ${config} ${name} '${args}'`;

async function askNobody(stage) {
  await stage.step('An agent that may only propose makes a call that cannot work: no person is asked');
  await stage.token('agent', ['mcp/request:initialize', 'mcp/request:*/list', 'mcp/request:notifications/*',
    'mcp/proposal:*', 'mcp/withdraw']);
  stage.client('agent.json', 'agent', ['--contracts', '{"result":"response.v1"}']);
  const { out } = await stage.run(clientCalls('agent.json', '{"period":"soon"}'));
  stage.check(/Invalid params: \/period/.test(out), 'it is told at once what is wrong, and where');
  const { out: open } = await stage.run('mcpxctl proposals --as ann');
  stage.check(open === '', 'and nothing waits for a decision');
}

async function callByOldName(stage) {
  await stage.step('The tool had another name once; who calls it by that is served');
  const { out } = await stage.run(`mcpxctl call finops.${TOOL} '${GOOD}' --to billing --as ann`);
  stage.check(JSON.parse(out).result.taken === 3, 'the answer is that of the tool, in an envelope');
  const { out: log } = await stage.run('grep alias log/telemetry/telemetry.latest.jsonl');
  stage.check(JSON.parse(log).canonicalToolName === TOOL, 'and the log knows by which name it came');
}

async function confirm(stage) {
  await stage.step('An answer says what it was made from, and anybody can check that');
  stage.file('request.json', JSON.stringify({ schema_version: 'mcp.request.v0.1', request_id: 'october',
    tool: { name: TOOL }, artifacts: [],
    params: { ...JSON.parse(GOOD), _meta: { capture_provenance: true, capture_artifacts: true } } }));
  await stage.run('mcpxctl call --request request.json --to billing --as ann > envelope.json; cat envelope.json');
  const { out: valid } = await stage.run('mcpxctl validate mcp.envelope.v0.1 envelope.json');
  stage.check(valid === 'valid\n', 'the envelope keeps its contract');
  const { provenance } = JSON.parse(readFileSync(join(stage.folder, 'envelope.json'), 'utf8'));
  const { out: sum } = await stage.run("node -p 'JSON.stringify(require(\"./envelope.json\").result)' | mcpxctl digest");
  stage.check(provenance.outputs[0].digest.value === sum.trim(), 'its digest is that of the result');
}

async function compareLogs(stage) {
  await stage.step('The same call over standard input and over HTTP');
  await stage.token('desk', ['mcp/*']);
  stage.client('desk.json', 'desk', ['--contracts', '{"log":{"dir":"stdio"}}']);
  await stage.run(clientCalls('desk.json', GOOD));
  const web = await stage.start('web',
    'mcpx-bridge expose --http 127.0.0.1:0 --as web --contracts \'{"log":{"dir":"http"}}\'');
  const [, url] = await web.until(/listening (http:\S+)/);
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"billing__${TOOL}","arguments":${GOOD}}}`;
  await stage.run(`curl -s ${url} -H 'content-type: application/json' -d '${body}'`);
  const latest = (folder) => `${folder}/envelope_validation/envelope_validation.latest.jsonl`;
  const { out } = await stage.run(`mcpxctl parity ${latest('stdio')} ${latest('http')}`);
  stage.check(/^equal: 1 line/.test(out), 'left the same line');
}

async function release(stage) {
  await stage.step('May the server be released?');
  await stage.run(`${SBOM} > sbom.json`);
  const { out } = await stage.run(`mcpxctl gate ${BILLING} --to billing --as ann --release --sbom sbom.json `
    + '--telemetry log/telemetry/telemetry.latest.jsonl --evidence evidence');
  stage.check(!/^(fail|skip)/m.test(out), 'all seven items say yes');
}

export async function play(stage) {
  await stage.step('A room with a billing server, under terms');
  await stage.router();
  stage.file('terms.json', readFileSync(join(BILLING, 'terms.json'), 'utf8').trimEnd()
    .replace('"response.v1"', '"mcp.envelope.v0.1"').replace('"require"', '"default"'));
  await stage.start('billing', `mcpx-bridge import --as billing --contracts terms.json -- node ${join(BILLING, 'server.mjs')}`,
    { ready: /is ready/ });
  await askNobody(stage);
  await callByOldName(stage);
  await confirm(stage);
  await compareLogs(stage);
  await release(stage);
}
