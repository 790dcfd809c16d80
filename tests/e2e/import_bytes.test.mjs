/*
 * The story: somebody's server is in daily use over a pipe, and now sits at a table. Every tool,
 * resource and prompt of the official servers must answer through the topic with the very bytes
 * it answers with over the pipe: a number that was rounded, a member that changed its place would
 * be a bug nobody finds. Protocol: section 1 (byte fidelity).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { compareEverything, compareFilesystem, compareMemory } from './lib/official.mjs';
import { Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

test('server-everything answers as over a pipe', async (t) => {
  const count = await compareEverything(t, router);
  assert.ok(count > 40, `${count} calls`);
});

test('server-filesystem answers as over a pipe', (t) => compareFilesystem(t, router));

test('server-memory answers as over a pipe', (t) => compareMemory(t, router));
