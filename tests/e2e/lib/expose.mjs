/*
 * expose.mjs - a topic as one MCP server, by way of `mcpx-bridge expose`: as a pipe whose bytes can
 * be compared, and behind clients of both generations of the official SDK.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { programBinary, run } from './program.mjs';
import { DEADLINE_MS, eventually, inTime } from './router.mjs';
import { Watch } from './watch.mjs';
import { Pipe } from './wire.mjs';

/** The clients of both generations, each with its transport. */
export const GENERATIONS = {
  'sdk 1': [Client, StdioClientTransport],
  'sdk 2': [ModernClient, ModernTransport],
};

const INSPECTOR = join(dirname(createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/inspector-cli/package.json')), 'build', 'cli.js');

/** What a client that may do everything needs. */
export const EXPOSE_GRANTS = ['mcp/request:*', 'mcp/proposal:*', 'mcp/response:*', 'mcp/withdraw'];

/** What one needs that may look, and propose what it wants done. */
export const PROPOSER_GRANTS = ['mcp/request:initialize', 'mcp/request:*/list',
  'mcp/request:notifications/*', 'mcp/proposal:*', 'mcp/withdraw'];

/** The command line of an expose: `{ command, args, env }`. Without `room`: its servers alone. */
export async function exposeCommand(router, topic, id,
  { options = [], room = 'no', grants = EXPOSE_GRANTS, token } = {}) {
  return {
    command: programBinary('mcpx-bridge'),
    args: ['expose', '--url', router.url, '--topic', topic, '--room', room, ...options],
    env: { ...process.env, MCPX_TOKEN: token ?? await router.token(id, topic, grants) },
  };
}

/** An expose as a Pipe, closed when the test ends. */
export async function exposePipe(t, router, topic, id, more) {
  const { command, args, env } = await exposeCommand(router, topic, id, more);
  const pipe = await Pipe.open(command, args, env);
  t.after(() => pipe.close());
  return pipe;
}

/**
 * Waits until the room behind a pipe has all these tools. A call waits three seconds for the topic's
 * servers; a machine that runs everything at once may take longer.
 */
export async function untilTools(pipe, ...names) {
  const list = JSON.stringify({ jsonrpc: '2.0', id: 'until', method: 'tools/list' });
  let answer;
  await eventually(async () => {
    answer = await pipe.call(list);
    const listed = JSON.parse(answer).result?.tools.map(({ name }) => name) ?? [];
    return names.every((name) => listed.includes(name));
  }, () => `not all of ${names.join(', ')} in ${answer}`);
}

/**
 * An SDK 1.x client behind an expose. `offers` are its MCP capabilities, `prepare(client)` runs
 * before it connects. What the bridge writes to standard error stands in `client.log`;
 * `client.logged(pattern)` waits for it.
 */
export async function exposeClient(t, router, topic, id, { offers = {}, prepare, ...more } = {}) {
  const transport = new StdioClientTransport(
    { ...await exposeCommand(router, topic, id, more), stderr: 'pipe' });
  const client = new Client({ name: id, version: '0.1.0' }, { capabilities: offers });
  const watch = new Watch();
  client.log = '';
  client.logged = (pattern) => inTime(watch.until(() => pattern.exec(client.log) ?? undefined),
    () => `the bridge did not say ${pattern}\n${client.log}`);
  client.errors = [];
  client.onerror = (error) => client.errors.push(error);
  transport.stderr.setEncoding('utf8').on('data', (text) => {
    client.log += text;
    watch.changed();
  });
  prepare?.(client);
  await inTime(client.connect(transport), () => `no session through expose\n${client.log}`);
  t.after(() => client.close());
  return client;
}

/** Calls a tool of the room; a refusal throws its sentence. */
export async function useRoom(client, name, args = {}) {
  const { isError, content, structuredContent } = await client.callTool(
    { name: `room__${name}`, arguments: args }, undefined, { resetTimeoutOnProgress: true });
  if (isError) throw new Error(content[0].text);
  return structuredContent;
}

/** An SDK 2.x client behind an expose; `mode` is how it negotiates the version. */
export async function exposeModern(t, router, topic, id, mode) {
  const client = new ModernClient({ name: id, version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(
    { ...await exposeCommand(router, topic, id), stderr: 'ignore' }));
  t.after(() => client.close());
  return client;
}

/** Runs the Inspector with these words until what it prints, parsed, is as `holds` says. */
export async function inspect(words, env, holds) {
  let said;
  await eventually(async () => {
    said = await run(process.execPath, [INSPECTOR, '--cli', ...words], { env });
    return said.code === 0 && holds(JSON.parse(said.stdout));
  }, () => `${words.join(' ')}: ${said.stdout}${said.stderr}`);
}

/** Waits until `look()` gives something; asked again whenever `client` is told that a list changed. */
export async function untilListed(client, schema, look) {
  let wake;
  client.setNotificationHandler(schema, () => wake?.());
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const changed = new Promise((done) => { wake = done; });
    const found = await look();
    if (found) return found;
    await inTime(changed, 'the list did not change', Math.max(1, end - Date.now()));
  }
}

/** The same until it sees a tool: a call waits no longer for the topic's servers than untilTools says. */
export const listed = (client, tool) => untilListed(client, ToolListChangedNotificationSchema,
  async () => (await client.listTools()).tools.some(({ name }) => name === tool));
