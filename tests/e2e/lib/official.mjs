/*
 * official.mjs - the official servers, each with the calls that tell all there is to tell about it:
 * over a pipe, and by way of `mcpx-bridge`, byte by byte.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exposePipe } from './expose.mjs';
import { folderFor } from './folder.mjs';
import { importRoom } from './import.mjs';
import { serverProgram } from './room.mjs';
import { eventually } from './router.mjs';
import { Pipe, ROOT, rpc } from './wire.mjs';

const FROZEN = ['--import', fileURLToPath(new URL('frozen.mjs', import.meta.url))];
const LISTS = { 'tools/list': 'tools', 'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates', 'prompts/list': 'prompts' };

/** The calls that tell all there is to tell about a server, each with an id of its own. */
async function conversation(call, { calls, wrong, prompts = {}, more = [] }) {
  const heard = [];
  const say = async (method, params) => {
    const text = rpc(heard.length, method, params);
    const answer = await call(text);
    heard.push([text, answer]);
    return JSON.parse(answer).result ?? {};
  };
  const found = {};
  for (const [method, member] of Object.entries(LISTS)) {
    found[member] = (await say(method, {}))[member] ?? [];
  }
  const names = found.tools.map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !calls.some(([called]) => called === name)), [],
    'every tool is called');
  for (const [name, args] of [...wrong, ...calls]) await say('tools/call', { name, arguments: args });
  for (const { uri } of found.resources) await say('resources/read', { uri });
  for (const { name } of found.prompts) {
    await say('prompts/get', { name, arguments: prompts[name] ?? {} });
  }
  for (const [method, params] of more) await say(method, params);
  return heard;
}

/* The bytes of the entries of a list; what else its result has is the bridge's. */
function entriesOf(answer) {
  const member = /"(tools|resources|resourceTemplates|prompts)":\[/.exec(answer);
  return member ? answer.slice(member.index, answer.lastIndexOf(']')) : answer;
}

/** A pipe to an expose of the server's room, once it has all of `lists`, texts and answers. */
async function exposed(t, router, { topic }, lists) {
  const pipe = await exposePipe(t, router, topic, 'desk', { options: ['--names', 'plain'] });
  for (const [text, answer] of lists) {
    const expected = /"error":/.test(answer) ? ':[' : entriesOf(answer);
    await eventually(async () => entriesOf(await pipe.call(text)).endsWith(expected), `not ${expected}`);
  }
  return pipe;
}

/** How many answers of a server by way of import, or `isExposed` of both bridges, are as on its pipe. */
export async function compare(t, router, server, { options = [], wrong = WRONG, isExposed = false } = {}) {
  const { command: [node, ...args], env, roots, prepare, more } = server;
  const command = [node, ...FROZEN, ...args];
  /* What expose answers itself is not in the server's words. */
  const plan = { ...server, wrong, more: isExposed ? more?.filter(([, params]) => params.uri ?? params.name ?? params.ref) : more };
  prepare();
  const pipe = await Pipe.open(node, command.slice(1), env, { roots });
  const direct = await conversation((text) => pipe.call(text), plan);
  await pipe.close();

  prepare();
  const { room, seats: [seat] } = await importRoom(t, router, command, ['ann'],
    { env, options: [...(roots ? ['--root', ROOT] : []), ...options] });
  const lists = Object.keys(LISTS).length;
  const way = isExposed ? await exposed(t, router, room, direct.slice(0, lists)) : seat;
  const bridged = await conversation((text) => way.call(text), plan);
  assert.equal(bridged.length, direct.length);
  direct.forEach(([text, answer], i) => {
    const [, found] = bridged[i];
    if (isExposed && i < lists) return;
    /* Where a tool insists on a task, the bridge makes one. */
    if (/requires task augmentation/.test(answer)) assert.doesNotMatch(found, /"isError"|"error"/);
    else assert.equal(found, answer, text);
  });
  return direct.length;
}

/** The calls that tell all there is to tell about the tools of each: name and arguments. */
const EVERYTHING_CALLS = [
  ['echo', { message: 'grüße 🦊 \u2028 "quoted" \\ 18446744073709551616' }],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-resource-links', { count: 2 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
  ['get-structured-content', { location: 'Chicago' }], ['get-sum', { a: 0.1, b: 0.2 }],
  ['get-tiny-image', {}],
  ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello',
    outputType: 'resource' }],
  ['toggle-simulated-logging', {}], ['toggle-simulated-logging', {}],
  ['toggle-subscriber-updates', {}], ['toggle-subscriber-updates', {}],
  ['trigger-long-running-operation', { duration: 0.2, steps: 2 }],
  ['get-roots-list', {}], ['trigger-elicitation-request', {}],
  ['trigger-sampling-request', { prompt: 'p', maxTokens: 5 }],
  ['simulate-research-query', { topic: 'x' }],
  ['get-env', {}],
];

function filesystemCalls(path) {
  const at = (name) => join(path, name);
  return [
    ['list_allowed_directories', {}], ['write_file', { path: at('w.txt'), content: 'a\nb\n' }],
    ['edit_file', { path: at('w.txt'), edits: [{ oldText: 'b', newText: 'c' }] }],
    ['read_file', { path: at('w.txt') }], ['read_text_file', { path: at('w.txt'), head: 1 }],
    ['read_media_file', { path: at('p.png') }],
    ['read_multiple_files', { paths: [at('w.txt'), at('none')] }],
    ['create_directory', { path: at('d') }], ['list_directory', { path }],
    ['list_directory_with_sizes', { path, sortBy: 'size' }], ['directory_tree', { path }],
    ['move_file', { source: at('w.txt'), destination: at('d/m.txt') }],
    ['search_files', { path, pattern: '**/*.txt' }], ['get_file_info', { path: at('p.png') }],
    ['read_text_file', { path: '/etc/passwd' }],
  ];
}

const MEMORY_CALLS = [
  ['create_entities', { entities: [
    { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] },
    { name: 'Engine', entityType: 'machine', observations: [] }] }],
  ['create_relations', { relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }] }],
  ['add_observations', { observations: [{ entityName: 'Ada', contents: ['1815', '1852'] }] }],
  ['read_graph', {}], ['search_nodes', { query: 'program' }], ['open_nodes', { names: ['Ada'] }],
  ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['1815'] }] }],
  ['delete_relations', { relations: [
    { from: 'Ada', to: 'Engine', relationType: 'programs' }] }],
  ['delete_entities', { entityNames: ['Engine'] }], ['read_graph', {}],
];

/** What the filesystem server's calls begin with, in a folder of its own. */
function prepareFolder(path) {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  mkdirSync(join(path, 'e'));
  writeFileSync(join(path, 'p.png'), Buffer.from([137, 80, 78, 71]));
}

/** Calls that no server should get: what they lack is declared. */
const WRONG = [['echo', {}], ['no-such-tool', {}]];

/** What there is to ask server-everything beside its tools. */
const BESIDE = {
  prompts: { 'args-prompt': { city: 'Basel', state: 'BS' },
    'completable-prompt': { department: 'Engineering', name: 'Alice' },
    'resource-prompt': { resourceType: 'Text', resourceId: '1' } },
  more: [
    ['resources/read', { uri: 'demo://resource/dynamic/text/3' }],
    ['resources/read', { uri: 'demo://resource/dynamic/blob/3' }],
    ['resources/read', { uri: 'no:such' }], ['prompts/get', { name: 'no-such' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' } }],
    ['logging/setLevel', { level: 'error' }], ['ping', {}], ['no/such/method', {}],
  ],
};

/** The three servers: `{ id, command, env, calls, prepare }`; `prepare()` goes before the calls. */
export function officialServers(t) {
  const path = folderFor(t);
  const file = join(folderFor(t), 'memory.jsonl');
  const command = (program, ...args) => [process.execPath, serverProgram(program), ...args];
  return [
    { id: 'everything', command: command('server-everything', 'stdio'), calls: EVERYTHING_CALLS,
      roots: true, ...BESIDE, prepare: () => {} },
    { id: 'filesystem', command: command('server-filesystem', path), calls: filesystemCalls(path),
      prepare: () => prepareFolder(path) },
    { id: 'memory', command: command('server-memory'), env: { MEMORY_FILE_PATH: file },
      calls: MEMORY_CALLS, prepare: () => rmSync(file, { force: true }) },
  ];
}
