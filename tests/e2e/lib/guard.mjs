/*
 * guard.mjs - one `mcpx-bridge guard` for the length of a test, with or without a command behind
 * it, and a naive agent, guarded or bare. Nothing here waits for a fixed time.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inTime, routerBinary } from './router.mjs';
import { Watch } from './watch.mjs';

const AGENT = join(dirname(fileURLToPath(import.meta.url)), 'naive_agent.mjs');

/** A program whose standard output and error are kept as lines, to be waited for. */
export class Program {
  /** Lines of standard output and of standard error. */
  out = [];
  err = [];
  #watch = new Watch();

  constructor(command, args, env = {}) {
    this.child = spawn(command, args,
      { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    const killOnExit = () => this.child.kill('SIGKILL');
    process.once('exit', killOnExit);
    this.#collect(this.child.stdout, this.out);
    this.#collect(this.child.stderr, this.err);
    this.ended = new Promise((done) => {
      this.child.once('error', (error) => done({ error }));
      this.child.once('close', (code, signal) => done({ code, signal }));
    });
    this.ended.then((end) => {
      process.removeListener('exit', killOnExit);
      this.end = end;
      this.#watch.changed();
    });
  }

  #collect(stream, lines) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      this.#watch.changed();
    });
  }

  /** The first of `lines` that matches, waiting for it if need be. */
  async line(lines, pattern) {
    const found = this.#watch.until(() => {
      const line = lines.find((one) => pattern.test(one));
      if (line === undefined && this.end) throw new Error(`ended before ${pattern}: ${this.err.join('\n')}`);
      return line;
    });
    return inTime(found, () => `no line ${pattern} among ${[...this.out, ...this.err].join('\n')}`);
  }

  /** Waits until `count` of `lines` match. */
  async count(lines, pattern, count) {
    const reached = this.#watch.until(
      () => lines.filter((line) => pattern.test(line)).length >= count || undefined);
    await inTime(reached, () => `not ${count} lines ${pattern}: ${lines.join('\n')}`);
  }

  write(line) {
    this.child.stdin.write(`${line}\n`);
  }

  /** Ends standard input and waits for the program to end. */
  finish() {
    this.child.stdin.end();
    return inTime(this.ended, () => `the program did not end: ${this.err.join('\n')}`);
  }

  kill(signal = 'SIGTERM') {
    this.child.kill(signal);
    return inTime(this.ended, () => `${signal} did not end it: ${this.err.join('\n')}`);
  }
}

export function bridgeBinary() {
  return join(dirname(routerBinary()), 'mcpx-bridge');
}

/** `mcpx-bridge guard` in front of `router`, with `args` before the command. */
export function guard(router, args = [], command = []) {
  const url = router.http.replace('http:', 'ws:');
  const behind = command.length > 0 ? ['--', ...command] : [];
  return new Program(bridgeBinary(), ['guard', '--url', url, ...args, ...behind]);
}

/** A guard without a command; resolves with the program, its `url` and `http`. */
export async function listeningGuard(router, args = []) {
  const program = guard(router, args);
  const line = await program.line(program.out, /ws:\/\//);
  const [url] = /ws:\/\/[^"\s]+/.exec(line);
  return Object.assign(program, { url: `${url}/ws`, http: url.replace('ws:', 'http:') });
}

/** A naive agent that has been welcomed: bare, or behind a guard. */
export async function naiveAgent(router, { id, topic, guarded, args = ['--json'] }) {
  const command = [process.execPath, AGENT, id, topic];
  const agent = guarded ? guard(router, args, command)
    : new Program(command[0], command.slice(1), { MCPX_GATEWAY: router.http.replace('http:', 'ws:') });
  await agent.line(agent.out, /"ready"/);
  return agent;
}
