/* import.mjs - a server at a topic by way of `mcpx-bridge import`. */
import { Program, descendants } from './program.mjs';
import { Room } from './room.mjs';

/** What an import needs to be allowed. */
export const IMPORT_GRANTS = ['mcp/response:*', 'mcp/request:*', 'chat'];

/**
 * Starts an import of `command` and waits until it has joined; it is stopped when the test ends.
 * `options` are further words of its command line, `env` goes to bridge and server, `uid` is whom
 * they run as, `program` a copy of the bridge; `token` replaces one of these `grants`.
 */
export async function startImport(t, router, topic, id, command,
  { options = [], env = {}, grants = IMPORT_GRANTS, token, uid, program } = {}) {
  const bridge = Program.start('mcpx-bridge',
    ['import', '--url', router.url, '--topic', topic, ...options, '--', ...command],
    { env: { ...env, MCPX_TOKEN: token ?? await router.token(id, topic, grants) }, uid, program });
  t.after(() => bridge.stop());
  await bridge.until(/joined as/);
  return bridge;
}

/** The same, once the server is ready. */
export async function readyImport(...how) {
  const bridge = await startImport(...how);
  await bridge.until(/is ready/);
  return bridge;
}

/** A room with an import of `command` as "server", and people who use it: names, or `{ name: grants }`. */
export async function importRoom(t, router, command, people = ['ann'], more = {}) {
  const room = new Room(t, router);
  const bridge = await startImport(t, router, room.topic, 'server', command, more);
  const rows = Array.isArray(people) ? people.map((id) => [id, ['mcp/*', 'chat']]) : Object.entries(people);
  const seats = await Promise.all(rows.map(([id, grants]) => room.seat(id, grants, 'server')));
  return { room, bridge, seats };
}

/** One import of `command` in two rooms, with an ann in each; `more` are words of its command line. */
export async function importIntoTwo(t, router, command, more = []) {
  const rooms = [new Room(t, router), new Room(t, router)];
  const bridge = Program.start('mcpx-bridge', ['import', '--url', router.url,
    ...rooms.flatMap(({ topic }) => ['--topic', topic]), '--as', 'server', ...more, '--', ...command]);
  t.after(() => bridge.stop());
  await bridge.until(/joined as[^]*joined as/);
  const anns = await Promise.all(rooms.map((room) => room.seat('ann', ['mcp/*'], 'server')));
  return { rooms, bridge, anns };
}

/** The server process of an import; what looks after it has our own program's command line. */
export function serverOf(bridge, name) {
  const found = descendants(bridge.pid)
    .find(({ command }) => command.includes(name) && !command.includes('mcpx-bridge'));
  if (!found) throw new Error(`${name} is not running\n${bridge.log}`);
  return found;
}
