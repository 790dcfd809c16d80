/*
 * The story: somebody puts terms before the servers that people already have, and their clients notice
 * nothing but another form of answers. They list every tool, take every structured result, and numbers
 * arrive as the server wrote them. What schemas and calls name is named, and not looked up.
 * docs/contracts.md, "Results in an envelope" and "Contract settings".
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exposeClient, exposeCommand, exposeModern, exposePipe, inspect, untilTools }
  from './lib/expose.mjs';
import { exposeHttp } from './lib/expose_http.mjs';
import { folderFor } from './lib/folder.mjs';
import { IMPORT_GRANTS, startImport } from './lib/import.mjs';
import { officialServers } from './lib/official.mjs';
import { Program, programBinary } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { eventually, Router } from './lib/router.mjs';
import { callOf } from './lib/wire.mjs';

const router = await Router.startFor({ after });

/** Each setting of `result`: where the server's value stands in structuredContent. */
const SETTINGS = [
  { form: 'as-is', at: '' },
  { form: 'mcp.envelope.v0.1', at: 'result', marks: { schema_version: 'mcp.envelope.v0.1' } },
  { form: 'response.v1', at: 'data', marks: { tier: 'community' } },
];

/** Tools that everything has only for clients that can be asked something. */
const ASKING = ['get-roots-list', 'trigger-elicitation-request', 'trigger-sampling-request'];
/** It runs as a task, which is no call with an answer. */
const TASKS = ['simulate-research-query'];

const WEATHER = { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 };

const under = (terms) => ['--terms', JSON.stringify(terms)];
const listed = (id, name) => `${id}__${name}`;

/** A topic with the three official servers behind terms: `{ topic, servers, names }`. */
async function officialRoom(t, form) {
  const { topic } = new Room(t, router);
  const servers = officialServers(t);
  await Promise.all(servers.map(({ id, command, env }) =>
    startImport(t, router, topic, id, command, { env, options: under({ result: form }) })));
  const names = new Set(servers.flatMap(({ id, calls }) => calls
    .filter(([name]) => !ASKING.includes(name)).map(([name]) => listed(id, name))));
  return { topic, servers, names: [...names].sort() };
}

/** The names that a client lists, without those that depend on what it can be asked. */
function namesOf(tools) {
  return tools.map(({ name }) => name)
    .filter((name) => !ASKING.some((asking) => name.endsWith(`__${asking}`))).sort();
}

function valueOf(structured, at) {
  return at ? structured[at] : structured;
}

/** Lists and calls every tool. A client throws what does not fit the list. */
async function useAll(client, { servers, names }, { form, at, marks }) {
  let tools = [];
  await eventually(async () => {
    ({ tools } = await client.listTools());
    return namesOf(tools).length >= names.length;
  }, () => `only ${namesOf(tools)}`);
  assert.deepEqual(namesOf(tools), names);
  assert.equal(names.length, 36);
  const declared = new Set(tools.filter(({ outputSchema }) => outputSchema).map(({ name }) => name));
  let structured = 0;
  for (const { id, calls, prepare } of servers) {
    prepare();
    for (const [name, args] of calls.filter(([one]) => ![...ASKING, ...TASKS].includes(one))) {
      const what = `${form} ${id} ${name}`;
      const answer = await client.callTool({ name: listed(id, name), arguments: args });
      const { content, structuredContent } = answer;
      if (declared.has(listed(id, name)) && !answer.isError) assert.ok(structuredContent, what);
      if (structuredContent) structured += 1;
      for (const [member, value] of Object.entries(marks ?? {})) {
        assert.equal(structuredContent[member], value, what);
        assert.deepEqual(JSON.parse(content[0].text), structuredContent, what);
      }
      if (name === 'get-structured-content') {
        assert.deepEqual(Object.keys(valueOf(structuredContent, at)).sort(),
          Object.keys(WEATHER).sort(), what);
      }
    }
  }
  assert.ok(structured > 20, `${structured} structured results`);
}

/** Clients of both generations, each behind an expose of its own. */
const CLIENTS = {
  first: (t, topic) => exposeClient(t, router, topic, 'first'),
  ...Object.fromEntries(['legacy', { pin: '2026-07-28' }].map((mode, n) => [`second-${n}`,
    (t, topic) => exposeModern(t, router, topic, `second-${n}`, mode)])),
};

for (const setting of SETTINGS) {
  test(`clients list every tool and take every result: ${setting.form}`, async (t) => {
    const room = await officialRoom(t, setting.form);
    const inspected = (async () => {
      const { command, args, env } = await exposeCommand(router, room.topic, 'inspector');
      const web = await exposeHttp(t, router, room.topic, 'web');
      const ways = [[command, ...args], [web.url, '--transport', 'http']];
      await Promise.all(ways.map(async (way) => {
        await inspect([...way, '--method', 'tools/list'], env,
          ({ tools }) => namesOf(tools).join() === room.names.join());
        await inspect([...way, '--method', 'tools/call', '--tool-name',
          listed('everything', 'get-structured-content'), '--tool-arg', 'location=Chicago'], env,
        ({ structuredContent }) => Object.keys(WEATHER)
          .every((name) => valueOf(structuredContent, setting.at)[name] === WEATHER[name]));
      }));
    })();
    const used = (async () => {
      for (const open of Object.values(CLIENTS)) await useAll(await open(t, room.topic), room, setting);
    })();
    await Promise.all([inspected, used]);
  });
}

/*
 * A server of the tools that TOOLS lists. Each says on standard error that it was called, and answers
 * with the text ANSWER.
 */
const PROGRAM = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') process.stderr.write('called ' + params.name + '.\\n');
  const { TOOLS, ANSWER } = process.env;
  const results = { initialize: '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    + '"serverInfo":{"name":"text","version":"1.0.0"}}',
    'tools/list': '{"tools":' + TOOLS + '}', 'tools/call': ANSWER };
  process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ','
    + (results[method] ? '"result":' + results[method] : '"error":{"code":-32601,"message":"?"}')
    + '}\\n');
});`;
const SERVER = [process.execPath, '-e', PROGRAM];

const NUMBERS = '{"n":12345678901234567890,"x":1e400,"y":1.10}';

for (const { form, at } of SETTINGS) {
  test(`numbers arrive as the server wrote them: ${form}`, async (t) => {
    const room = new Room(t, router);
    await startImport(t, router, room.topic, 'server', SERVER, { options: under({ result: form }),
      env: { TOOLS: '[{"name":"numbers","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]',
        ANSWER: `{"content":[],"structuredContent":${NUMBERS}}` } });
    const seat = await room.seat('ann', ['mcp/*'], 'server');
    const pipe = await exposePipe(t, router, room.topic, 'desk');
    await untilTools(pipe, 'server__numbers');
    for (const text of [await seat.call(callOf(1, 'numbers')), await pipe.call(callOf(1, 'server__numbers'))]) {
      const { result } = JSON.parse(text);
      assert.ok(text.includes(`"${at || 'structuredContent'}":${NUMBERS}`), text);
      if (at) assert.ok(result.content[0].text.includes(`"${at}":${NUMBERS}`), text);
    }
  });
}

/* ---- what is named is not opened ---- */

/** A port on which somebody waits for a visit: `{ port, visits }`. */
async function trap(t) {
  const found = { visits: 0 };
  const server = createServer((socket) => {
    found.visits += 1;
    socket.destroy();
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  t.after(() => server.close());
  found.port = server.address().port;
  return found;
}

/** Tools whose schemas name `places`; "keep" names them where that means nothing. */
function toolsOf(places) {
  const any = { type: 'object' };
  const ways = [(place) => ({ $ref: place }), (place) => ({ $dynamicRef: place }),
    (place) => ({ $schema: place, type: 'object' }),
    (place) => ({ $id: place, properties: { a: { $ref: 'beside.json' } } })];
  const broken = places.flatMap((place) => ways.map((way) => ({ type: 'object', ...way(place) })));
  return [
    { name: 'keep', inputSchema: { ...any, $id: places[0], examples: places,
      properties: { at: { type: 'string', format: 'uri', default: places[0] } } }, outputSchema: any },
    ...broken.map((schema, n) => ({ name: `in-${n}`, inputSchema: schema })),
    ...broken.map((schema, n) => ({ name: `out-${n}`, inputSchema: any, outputSchema: schema })),
  ];
}

const contextOf = (place) => ({ requestId: place, traceId: place, mode: 'quick', workspaceId: place,
  actor: 'human', timeRange: { start: place, end: place, tz: place },
  contractVersions: { mcp: place, tool: place, fixture: place }, featureFlags: [place],
  $schema: place, $ref: place });

test('R000-16: no file, socket or URL that a schema, a locator or a context names is opened', async (t) => {
  const dir = folderFor(t);
  const trace = join(dir, 'trace');
  const strace = ['-D', '-f', '-o', trace, '-e', 'trace=%file,socket,connect'];
  if (spawnSync('strace', [...strace, 'true']).status !== 0) {
    t.skip('no strace to look with, or it may not look');
    return;
  }
  mkdirSync(join(dir, 'named'));
  for (const name of ['a.json', 'beside.json']) writeFileSync(join(dir, 'named', name), '{}');
  const visited = await trap(t);
  const places = [`http://127.0.0.1:${visited.port}/named/a.json`, `file://${dir}/named/a.json`,
    `${dir}/named/a.json`, `unix://${dir}/named/socket`];
  const tools = toolsOf(places);
  const link = { type: 'resource_link', uri: places[1], name: 'a' };
  writeFileSync(join(dir, 'terms.json'), JSON.stringify(
    { result: 'mcp.envelope.v0.1', context: { policy: 'require' } }));

  const room = new Room(t, router);
  const bridge = Program.start('mcpx-bridge', [...strace, programBinary('mcpx-bridge'),
    'import', '--url', router.url, '--topic', room.topic, '--terms', join(dir, 'terms.json'), '--', ...SERVER],
  { program: 'strace', env: { MCPX_TOKEN: await router.token('server', room.topic, IMPORT_GRANTS),
    ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:detect_leaks=0`, TOOLS: JSON.stringify(tools),
    ANSWER: JSON.stringify({ content: [link], structuredContent: { $ref: places[0], locator: places[1] } }) } });
  t.after(() => bridge.stop());
  await bridge.until(/joined as/);
  const seat = await room.seat('ann', ['mcp/*'], 'server');
  const call = (name, place) => seat.ask(callOf(name, name, { at: place }, {
    _meta: { capture_provenance: true, capture_artifacts: true, provenance_mode: 'full',
      'io.mcpx/context': contextOf(place), 'io.mcpx/artifacts': places.map((locator) =>
        ({ schema_version: 'artifact.ref.v0.1', locator, media_type: 'application/json' })) } }));

  for (const place of places) {
    const { result: { structuredContent } } = await call('keep', place);
    assert.equal(structuredContent.result.locator, places[1]);
    const record = JSON.stringify(structuredContent.provenance);
    assert.deepEqual(places.filter((one) => !record.includes(one)), [], 'each is copied');
  }
  for (const { name } of tools.slice(1)) {
    const { result } = await call(name, places[0]);
    assert.equal(result.structuredContent.errors[0].code, 'ADAPTER.INTERNAL', name);
  }
  assert.doesNotMatch(bridge.log, /called in-/, 'what cannot be judged is not called');

  const { pid } = bridge;
  await bridge.stop();
  let seen = '';
  await eventually(() => {
    seen = readFileSync(trace, 'utf8');
    return new RegExp(`^${pid} +\\+\\+\\+ exited`, 'm').test(seen);
  }, () => `strace did not end\n${seen}`);
  const lines = seen.split('\n');
  assert.ok(lines.some((line) => /open\w*\(.*terms\.json/.test(line)), 'what is opened is seen');
  assert.deepEqual(lines.filter((line) => /named|beside/.test(line)), []);
  const ports = lines.flatMap((line) => /sin6?_port=htons\((\d+)\)/.exec(line)?.[1] ?? []);
  assert.deepEqual([...new Set(ports)], [new URL(router.url).port]);
  assert.equal(visited.visits, 0);
});
