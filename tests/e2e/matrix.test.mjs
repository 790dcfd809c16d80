/*
 * The story: one client knows only MCP of 2025, another only that of 2026, and so do servers; for years
 * people will have both. Each thing of matrix/things.mjs is done by way of import, router and expose in
 * all four combinations, and must look to the client as on the pipe of a server of its own time, or be
 * known not to. Prints the table, and what differs: make matrix. The table stands in docs/bridge.md.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { exposeCommand } from './lib/expose.mjs';
import { startImport } from './lib/import.mjs';
import { matrixServer, withModern } from './lib/room.mjs';
import { DEADLINE_MS, inTime, Router } from './lib/router.mjs';
import { First, Second } from './matrix/clients.mjs';
import { UI } from './matrix/offer.mjs';
import { THINGS } from './matrix/things.mjs';

const TIMES = { 1: { Client: First, protocol: '2025-11-25' }, 2: { Client: Second, protocol: '2026-07-28' } };
/** Client and server. */
const COMBINATIONS = ['1 1', '1 2', '2 1', '2 2'];

/** What is not as directly: things, combinations, and why. */
const KNOWN = [
  [['task', 'task cancelled'], ['1 2', '2 1'], 'SEP-2663, Backward Compatibility: not wire-compatible; the call ends with its result'],
];

/* By its operator's word, the server may also ask for roots. */
const options = ['--client-capabilities', '{"elicitation":{},"sampling":{},"roots":{}}'];

/* Names of the server begin so behind the bridge. */
const PREFIX = 'shop__';

/* How long a thing may take: some never end where the bridge loses something. */
const PATIENCE_MS = DEADLINE_MS / 18;

/* Members that one revision has and the other leaves out, and how a schema is written down. */
const INCIDENTAL = ['$schema', 'additionalProperties', 'execution', 'ttlMs', 'cacheScope',
  'io.modelcontextprotocol/serverInfo'];
const isIncidental = (key, value) => INCIDENTAL.includes(key) || (key === 'resultType' && value === 'complete')
  || (key === '_meta' && Object.keys(value).length === 0);
const plain = (value) => JSON.parse(JSON.stringify(value).replaceAll(PREFIX, ''),
  (key, member) => isIncidental(key, member) ? undefined : member);

function direct(t, number) {
  const [command, ...args] = matrixServer(number);
  return TIMES[number].Client.connect(t, { command, args });
}

async function bridged(t, router, combination) {
  const [client, server] = combination.split(' ');
  const topic = `matrix-${client}-${server}`;
  const bridge = await startImport(t, router, topic, PREFIX.slice(0, -2), matrixServer(server), { options });
  await bridge.until(new RegExp(`is ready, protocol ${TIMES[server].protocol}`));
  return TIMES[client].Client.connect(t, await exposeCommand(router, topic, 'desk'), PREFIX);
}

/* What the client observes: thing -> `{ result }` or `{ error }`. */
async function observed(connecting) {
  const client = await connecting;
  const seen = {};
  for (const [thing, look] of Object.entries(THINGS)) {
    const end = new AbortController();
    client.begin();
    try {
      seen[thing] = plain({ result: await inTime(look(client, end.signal), 'nothing', PATIENCE_MS) });
    } catch (error) {
      seen[thing] = { error: error.code ?? error.message.replace(/ \(not within.*/, '') };
    }
    end.abort();
  }
  return seen;
}

const wordOf = ({ error, result }) => String(error ?? (result.isError ? 'isError' : 'other'));

const router = await Router.startFor({ after });

test('what a client sees through the bridge is what it sees directly, or is known', withModern, async (t) => {
  const [one, two, ...columns] = await Promise.all([direct(t, 1), direct(t, 2),
    ...COMBINATIONS.map((combination) => bridged(t, router, combination))].map(observed));
  const table = [['client, server', ...COMBINATIONS]];
  const details = [];
  const differ = [];
  for (const thing of Object.keys(THINGS)) {
    const words = COMBINATIONS.map((combination, i) => {
      const seen = columns[i][thing];
      const control = (combination[0] === '1' ? one : two)[thing];
      if (isDeepStrictEqual(seen, control)) return '=';
      differ.push(`${combination} ${thing}`);
      details.push('', differ.at(-1), `  saw    ${JSON.stringify(seen)}`,
        `  direct ${JSON.stringify(control)}`);
      return wordOf(seen);
    });
    table.push([thing, ...words]);
  }
  const line = ([first, ...words]) => first.padEnd(24) + words.map((word) => word.padEnd(14)).join('').trimEnd();
  const reasons = KNOWN.map(([things, , why]) => `${things.join(', ')}: ${why}`);
  const printed = [...table.map(line), '', ...reasons].join('\n');
  console.log([printed, ...details].join('\n'));

  const failed = ({ error }) => error !== undefined;
  for (const control of [one, two]) {
    assert.deepEqual(Object.keys(control).filter((thing) => failed(control[thing])), ['missing resource']);
  }
  const known = KNOWN.flatMap(([things, combinations]) =>
    things.flatMap((thing) => combinations.map((combination) => `${combination} ${thing}`)));
  assert.deepEqual({ anew: differ.filter((cell) => !known.includes(cell)),
    noLonger: known.filter((cell) => !differ.includes(cell)) }, { anew: [], noLonger: [] });
  const [page] = /client, server [^`]*/.exec(readFileSync(new URL('../../docs/bridge.md', import.meta.url), 'utf8'));
  assert.equal(page.trimEnd(), printed, 'the table of docs/bridge.md');
});

for (const combination of COMBINATIONS) {
  test(`extensions, hints and news of tasks reach the other side: ${combination}`, withModern, async (t) => {
    const client = await bridged(t, router, combination);
    assert.deepEqual(client.sdk.getServerCapabilities().extensions?.[Object.keys(UI)], Object.values(UI)[0]);
    const [{ text }] = (await client.call('extensions')).content;
    assert.equal(text.includes(JSON.stringify(UI).slice(1, -1)), combination[2] === '2', text);
    if (combination[0] === '1') return;
    const [{ cacheScope, tools }, again] = [await client.raw('tools/list', {}), await client.raw('tools/list', {})];
    assert.deepEqual([cacheScope, again.tools], ['private', tools]);
    if (combination[2] === '1') return;
    const { taskId } = await client.raw('tools/call', client.params('job'));
    client.raw('subscriptions/listen', { notifications: { taskIds: [taskId] } });
    await client.told('subscriptions/acknowledged', ({ notifications }) => notifications.taskIds[0] === taskId);
    await client.call('finish');
    await client.told('tasks', (task) => task.taskId === taskId && task.status === 'completed');
  });
}
