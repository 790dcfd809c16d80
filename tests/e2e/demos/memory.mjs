/*
 * memory.mjs - demo 6: the router is killed twice in the middle of a conversation. Whoever talks talks
 * on, whoever reads reads on, and what everybody has read is what stands in the history, in the
 * database and, decision by decision, in the audit.
 */
import { freePort } from '../lib/router.mjs';

export const title = 'memory: kill -9 in the middle of a conversation';

const LINES = 60;
const READERS = ['bob', 'carol'];

export async function play(stage) {
  await stage.step('A router that stores what is said, and signs what it decides');
  stage.secret('MCPX_AUTH_JWT_SECRET'); /* tokens must outlive the router */
  stage.export('MCPX_STORE_KIND', 'sqlite');
  stage.export('MCPX_STORE_FILE', 'router.db');
  stage.export('MCPX_AUDIT_FOLDER', 'audit');
  stage.export('MCPX_AUDIT_KEY_FILE', 'audit.key');
  await stage.run('(umask 077; openssl genpkey -algorithm ed25519 -out audit.key)');
  await stage.run('openssl pkey -in audit.key -pubout -out audit.pub');
  let router = await stage.router({ port: await freePort() });

  await stage.step('Two read, and one talks');
  const readers = [];
  for (const id of READERS) {
    await stage.token(id, []);
    readers.push(await stage.start(id,
      `mcpxctl watch --token-file ${id}.token --kind chat --json --count ${LINES}`));
  }
  await stage.token('ann', ['chat']);
  await stage.run('until mcpxctl who --token-file ann.token | grep -c . | grep -qx 2; do sleep 0.1; done');
  const talk = await stage.start('ann', `sh -c 'for n in $(seq ${LINES}); do `
    + 'until mcpxctl say --token-file ann.token --timeout 600 "line $n"; do sleep 0.1; done; echo "said $n"; done\'');

  for (const line of [LINES / 3, 2 * LINES / 3]) {
    await talk.until(new RegExp(`^said ${line}$`));
    await stage.step(`kill -9 of the router, after line ${line}, and a new one in its place`);
    await stage.stop(router, { signal: 'SIGKILL', code: null });
    router = await stage.router({ port: router.port });
  }

  await stage.step('Everybody has read everything, once and in order');
  await talk.end();
  const expected = [...Array(LINES)].map((_, n) => `line ${n + 1}`);
  for (const reader of readers) {
    await reader.end();
    stage.check(same(texts(reader.lines), expected), `${reader.name} has read line 1 to line ${LINES}`);
  }
  const { out } = await stage.run(`mcpxctl history --token-file ann.token --kind chat --limit ${LINES} --json`,
    { lines: 2 });
  stage.check(same(texts(out.split('\n')), expected), 'and that is what the history holds');

  await stage.step('What was allowed can be shown');
  await stage.stop(router);
  await stage.run('mcpxctl audit verify --key audit.pub audit');
}

/** What was said, of lines that are envelopes. */
function texts(lines) {
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === 'chat').map(({ payload }) => payload.text);
}

function same(found, expected) {
  return JSON.stringify(found) === JSON.stringify(expected);
}
