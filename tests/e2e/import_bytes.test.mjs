/*
 * The story: somebody's server is in daily use over a pipe, and now sits at a table. Every tool,
 * resource and prompt of the official servers must answer through the topic with the very bytes
 * it answers with over the pipe: a number that was rounded, a member that changed its place would
 * be a bug nobody finds. Protocol: section 1 (byte fidelity).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { compare, officialServers } from './lib/official.mjs';
import { Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

for (const server of officialServers({ after })) {
  for (const isExposed of [false, true]) {
    test(`${server.id} answers as over a pipe, through ${isExposed ? 'both bridges' : 'import'}`, async (t) => {
      const count = await compare(t, router, server, { isExposed });
      assert.ok(count > (server.id === 'everything' ? 39 : 10), `${count} calls`);
    });
  }
}
