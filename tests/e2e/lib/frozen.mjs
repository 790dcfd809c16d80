/*
 * frozen.mjs - preloaded into a server (node --import) so that its answers do not depend on when
 * it is asked: every date prints as the same one, times of files included. The mark by which a
 * bridge finds the processes it has to look after is taken out of the environment.
 */
delete process.env.MCPX_CHILD;
for (const name of ['toString', 'toISOString', 'toLocaleString', 'toLocaleTimeString',
  'toLocaleDateString', 'toTimeString', 'toDateString', 'toUTCString', 'toJSON']) {
  Date.prototype[name] = () => '2026-11-22T00:00:00.000Z';
}
