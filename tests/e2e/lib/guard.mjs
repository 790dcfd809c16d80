/*
 * guard.mjs - one `mcpx-bridge guard` for the length of a test, with or without a command behind
 * it, and a naive agent, guarded or bare. Nothing here waits for a fixed time.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Program } from './program.mjs';

const AGENT = join(dirname(fileURLToPath(import.meta.url)), 'naive_agent.mjs');
const PIPES = { stdin: 'pipe', stdout: 'kept' };

/** Where a router is, as a guard and an agent are told. */
export const addressOf = (router) => router.http.replace('http:', 'ws:');

/** `mcpx-bridge guard` in front of `router`, with `args` before the command. */
export function guard(router, args = [], command = []) {
  const behind = command.length > 0 ? ['--', ...command] : [];
  return Program.start('mcpx-bridge', ['guard', '--url', addressOf(router), ...args, ...behind], PIPES);
}

/** A guard without a command for a test; resolves with the program, its `url` and `http`. */
export async function listeningGuard(t, router, args = []) {
  const program = guard(router, args);
  t.after(() => program.stop());
  const [, url] = await program.says(/(ws:\/\/[^"\s]+)["\s]/);
  return Object.assign(program, { url: `${url}/ws`, http: url.replace('ws:', 'http:') });
}

/** A naive agent for a test, welcomed: bare, or behind a guard. */
export async function naiveAgent(t, router, { id, topic, guarded }) {
  const command = [AGENT, id, topic];
  const agent = guarded ? guard(router, ['--json'], [process.execPath, ...command])
    : Program.start('agent', command, { ...PIPES, program: process.execPath,
      env: { MCPX_GATEWAY: addressOf(router) } });
  t.after(() => agent.finish());
  await agent.says(/"ready"/);
  return agent;
}
