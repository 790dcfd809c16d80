/*
 * demo.test.mjs - what breaks for whom: a newcomer who presses Ctrl-C or closes the terminal in the
 * middle of a demo keeps a router, bridges and servers that nobody ends, and folders in /tmp; one who
 * shows a demo to others cannot make it wait; one who looks for its first line finds a compiler's.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { Show } from './lib/show.mjs';

/* What the demo is in the middle of: a request of its own, joining, an agent that waits, the start of a
 * server, a command, a call, a server for HTTP. */
const ENDS = [
  ['SIGINT', 130, 0, /3\. agent tries/],
  ['SIGTERM', 143, 0, /1\. Who is in the room/],
  ['SIGHUP', 129, 2, /its proposal is/],
  ['SIGINT', 130, 2, /mcpx-bridge import/],
  ['SIGHUP', 129, 3, /\$ sleep 10/],
  ['SIGTERM', 143, 4, /kill -9 in the middle of a call/],
  ['SIGINT', 130, 5, /expose --http/],
];

for (const group of [false, true]) describe('a demo that is ended', { concurrency: 3 }, () => {
  for (const [signal, code, number, moment] of ENDS) {
    test(`demo ${number} leaves nothing after ${signal}${group ? ' to its process group' : ''}`, async () => {
      let show, end;
      for (let tries = 0; tries < 5 && !end?.code; tries++) { /* it may be over before the signal */
        show = new Show(`node demo.mjs ${number}`, { env: { DEMO_PAUSE: '1' } });
        await show.until(moment);
        show.kill(signal, { group });
        end = await show.end();
      }
      assert.deepEqual(end, { code, signal: null }, show.log);
      assert.deepEqual(await show.leftovers(), []);
      assert.match(show.log, new RegExp(`\nended by ${signal}; nothing is left over\n$`));
      assert.doesNotMatch(show.log, /failed/);
    });
  }
});

test('Ctrl-C leaves the terminal as it was, also at a question', async () => {
  for (const [number, moment] of [['2', /\[y\/N\] $/], ['', /which one\? \[1\] $/]]) {
    const show = new Show('trap : INT; as=$(stty -g); '
      + `node demo.mjs ${number}; echo "exit $?"; [ "$as" = "$(stty -g)" ] && echo as before`, { terminal: true });
    await show.until(moment);
    show.type('\u0003');
    await show.until(/exit 130\r?\nas before/);
    await show.end();
    assert.deepEqual(await show.leftovers(), []);
  }
});

test('a closed terminal leaves nothing', async () => {
  for (const moment of [/its proposal is/, /\[y\/N\] $/]) {
    const show = new Show('node demo.mjs 2', { terminal: true });
    await show.until(moment);
    show.kill('SIGKILL'); /* script(1) is the terminal */
    await show.end();
    assert.deepEqual(await show.leftovers(), []);
  }
});

test('who reads only the beginning leaves nothing', async () => {
  const show = new Show('sh -c "node demo.mjs 2 | head -n 3"');
  await show.until(/1\. A room/);
  await show.end();
  assert.deepEqual(await show.leftovers(), []);
});

test('with DEMO_PAUSE=1 each step waits for Enter', async () => {
  const show = new Show('node demo.mjs 2', { terminal: true, env: { DEMO_PAUSE: '1' } });
  for (const step of [2, 3]) {
    await show.until(/Enter goes on \S*$/);
    assert.doesNotMatch(show.log, new RegExp(`${step}\\. `));
    show.type('\n');
    await show.until(new RegExp(`${step}\\. `));
  }
  await show.until(/\[y\/N\] $/);
  show.type('y\n');
  await show.until(/the file is there[^]*Enter goes on \S*$/);
  assert.doesNotMatch(show.log, /4\. /);
  show.type('\n');
  assert.deepEqual(await show.end(), { code: 0, signal: null }, show.log);
  assert.match(show.log, /all 4 steps as promised/);
  assert.deepEqual(await show.leftovers(), []);
});

test('what is built before says nothing, unless it fails', (t) => {
  const folder = folderFor(t);
  const quietly = (...command) => spawnSync('./quietly', ['building', ...command],
    { encoding: 'utf8', env: { ...process.env, TMPDIR: folder } });
  const good = quietly('sh', '-c', 'echo compiling; echo warned >&2');
  assert.deepEqual([good.status, good.stdout, good.stderr], [0, '', '']);
  const bad = quietly('sh', '-c', 'echo compiling; echo no such header >&2; exit 3');
  assert.deepEqual([bad.status, bad.stdout, bad.stderr], [3, '', 'compiling\nno such header\n']);
  const ended = quietly('sh', '-c', 'kill -HUP $PPID');
  assert.deepEqual([ended.status, ended.stdout, ended.stderr], [129, '', '']);
  assert.deepEqual(readdirSync(folder), []);
});
