/*
 * echo_watch.mjs - a process of its own that sends a message to itself again and again, and tells how
 * late a router has made the latest one. A machine with few processors lets both wait for one while
 * others compute: how long, the kernel says, and that is taken off. So only one message is under way
 * at a time: while it is, this process does nothing that could wait.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { inTime } from './router.mjs';

const PAUSE_MS = 10;

/** How long a process has waited for a processor so far, in ms; 0 where the kernel does not say. */
function waited(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Watches a router from now on, with a token for the topic "watched". `end()` gives what was seen
 * since `begin()`: `echoes`, the `latest` and how late the router has made the one that it made
 * `late` most, in ms.
 */
export async function watchEchoes(t, router, token) {
  const watcher = fork(fileURLToPath(import.meta.url), [router.url, token, String(router.pid)],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.after(() => watcher.kill());
  await inTime(once(watcher, 'message'), 'the first echo');
  return {
    begin: () => { watcher.send('begin'); },
    async end() {
      watcher.send('end');
      return (await inTime(once(watcher, 'message'), 'what others have seen'))[0];
    },
  };
}

function watch(url, token, pid) {
  const socket = new WebSocket(`${url}?topic=watched`, { headers: { authorization: `Bearer ${token}` } });
  const begun = {};
  const seen = { echoes: 0, latest: 0, late: 0 };
  let number = 0, counts = false, ends = false;

  function send() {
    begun.id = `e${number += 1}`;
    begun.waited = waited(pid) + waited('self');
    begun.at = performance.now();
    socket.send(JSON.stringify({ protocol: 'mcpx/v0.1', id: begun.id, kind: 'chat', payload: {} }));
  }

  socket.once('open', send);
  socket.on('message', (data) => {
    const took = performance.now() - begun.at;
    if (JSON.parse(data.toString()).id !== begun.id) return;
    if (counts) {
      seen.echoes += 1;
      seen.latest = Math.max(seen.latest, took);
      seen.late = Math.max(seen.late, took - (waited(pid) + waited('self') - begun.waited));
    } else if (number === 1) process.send('ready');
    if (ends) process.send(seen, () => process.exit());
    else setTimeout(send, PAUSE_MS);
  });
  process.on('message', (what) => {
    counts = true;
    ends = what === 'end'; /* the one that is under way may be the latest */
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) watch(...process.argv.slice(2));
