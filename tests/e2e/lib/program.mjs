/*
 * program.mjs - one of our programs as a process: its standard error is kept and waited for by
 * line, its end is expected, and nothing it started may be left behind.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { folderFor } from './folder.mjs';
import { DEADLINE_MS, inTime, routerBinary } from './router.mjs';
import { Watch } from './watch.mjs';

/** Path of a built program. */
export function programBinary(name) {
  return join(dirname(routerBinary()), name);
}

/**
 * Runs a program to its end: `{ code, stdout, stderr }`; `child` of the promise is its process. `env` is
 * added to ours, `input` is what it reads, the rest are options of execFile.
 */
export function run(file, words, { env = {}, input = '', ...options } = {}) {
  let child;
  const ended = new Promise((done) => {
    child = execFile(file, words,
      { timeout: DEADLINE_MS, maxBuffer: 1 << 28, ...options, env: { ...process.env, ...env } },
      (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
  });
  child.stdin.on('error', () => {}); /* who has ended reads nothing more */
  child.stdin.end(input);
  return Object.assign(ended, { child });
}

/** What a program of run() has said, which has to end with `code`, and to say that. */
export async function ends(running, code = 0, says = /(?:)/, what = '') {
  const end = await running;
  assert.equal(end.code, code, `${what} ${end.stderr}${end.stdout}`);
  assert.ok(says.test(end.stdout) || says.test(end.stderr), `${what} ${says}: ${end.stderr}${end.stdout}`);
  return end;
}

/** mcpxctl, likewise. */
export const mcpxctl = (words, options) => run(programBinary('mcpxctl'), words, options);

/** Whom processes are started as that root is not to be: for the kernel, root may read everything. */
export const SOMEBODY = process.getuid() === 0 ? 65534 : undefined;

/** Copies of programs where every user may run them, as ours may lie in the home of root. */
export function forEverybody(t, ...programs) {
  const folder = folderFor(t);
  mkdirSync(join(folder, 'bin'));
  const copies = programs.map((from) => {
    const to = join(folder, 'bin', basename(from));
    copyFileSync(from, to);
    return to;
  });
  chmodSync(folder, 0o755);
  return copies;
}

export class Program {
  /** Everything it wrote to standard error, and to standard output if that is kept. */
  log = '';
  output = '';
  #child;
  #exited;
  #isEnding = false;
  #watch = new Watch();

  /**
   * Starts `name` with `args`. `env` is added to ours; `stdin` and `stdout` are "ignore" unless
   * given, "pipe", or for stdout "kept", or "joined" with standard error; `uid` is the user it runs as, `program`
   * another one to run instead. A user that is not ours starts in the root folder unless `cwd` is given.
   * Killed at the latest when this process ends.
   */
  constructor(name, args, { env = {}, stdin = 'ignore', stdout = 'ignore', uid, program, detached,
    cwd = uid === undefined ? undefined : '/' } = {}) {
    this.name = name;
    const isKept = ['kept', 'joined'].includes(stdout);
    const child = spawn(program ?? programBinary(name), args, { uid, cwd, detached,
      stdio: [stdin, isKept ? 'pipe' : stdout, 'pipe'], env: { ...process.env, ...env } });
    this.#child = child;
    const killOnExit = () => child.kill('SIGKILL');
    process.once('exit', killOnExit);
    this.#exited = new Promise((done) => {
      child.once('error', (error) => done({ error }));
      child.once('close', (code, signal) => done({ code, signal }));
    });
    this.#exited.then((end) => {
      process.removeListener('exit', killOnExit);
      this.ended = end;
      this.#watch.changed();
    });
    const keep = (stream, where) => stream.setEncoding('utf8').on('data', (text) => {
      this[where] += text;
      this.took?.(where, text);
      this.#watch.changed();
    });
    keep(child.stderr, 'log');
    if (isKept) keep(child.stdout, stdout === 'kept' ? 'output' : 'log');
  }

  static start(...how) {
    return new this(...how);
  }

  get pid() {
    return this.#child.pid;
  }

  /** From now on nobody reads its standard error; `listen` reads again what there is. */
  ignore() {
    this.#child.stderr.pause();
  }

  listen() {
    this.#child.stderr.resume();
  }

  get stdin() {
    return this.#child.stdin;
  }

  get stdout() {
    return this.#child.stdout;
  }

  /** What `look()` gives, asked again whenever the program says something, until it is something. */
  holds(look, what, ms) {
    const found = this.#watch.until(() => {
      const result = look() ?? undefined;
      if (!result && this.ended) throw new Error(`${this.name} ended before ${what}\n${this.log}`);
      return result;
    });
    return inTime(found, () => `${this.name} did not say ${what}\n${this.log}${this.output}`, ms);
  }

  /** Waits until standard error holds a match of `pattern`; returns the match. */
  until(pattern, ms) {
    return this.holds(() => pattern.exec(this.log), pattern, ms);
  }

  /** The same for standard output, which has to be kept. */
  says(pattern, ms) {
    return this.holds(() => pattern.exec(this.output), pattern, ms);
  }

  /** Sends a signal. */
  kill(signal = 'SIGTERM') {
    this.#isEnding ||= signal === 'SIGTERM';
    this.#child.kill(signal);
  }

  /** Waits for its end; `{ code, signal }`. */
  async end(ms) {
    return inTime(this.#exited, () => `${this.name} did not end\n${this.log}`, ms);
  }

  /** The same, once it has no input any more. */
  finish(ms) {
    this.stdin.end();
    return this.end(ms);
  }

  /** SIGTERM, once; then exit code 0 with nothing left behind, or an error with its log. */
  async stop() {
    const family = descendants(this.pid);
    if (!this.ended && !this.#isEnding) this.kill();
    const { code, signal, error } = await this.end();
    if (code !== 0) {
      throw new Error(`${this.name} ended with ${error?.message ?? signal ?? code}\n${this.log}`);
    }
    const left = family.filter(({ pid, start }) => startOf(pid) === start);
    if (left.length > 0) {
      throw new Error(`${this.name} left ${left.map(({ command }) => command).join('; ')}`);
    }
  }
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** When the process began; with its pid, that names it for ever. Zombies count as gone. */
export function startOf(pid) {
  const stat = statOf(pid);
  return stat && stat[0] !== 'Z' ? stat[19] : undefined;
}

/** Waits until every process of a list that descendants() gave has ended. */
export async function untilGone(family, ms) {
  let left = family;
  const gone = (async () => {
    while ((left = left.filter(({ pid, start }) => startOf(pid) === start)).length > 0) {
      await new Promise((done) => { setTimeout(done, 10); });
    }
  })();
  await inTime(gone, () => `still there: ${left.map(({ command }) => command).join('; ')}`, ms);
}

/** Every process that descends from `pid`: `{ pid, start, command }`. */
export function descendants(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) {
      const stat = statOf(name);
      if (stat) parents.set(Number(name), Number(stat[1]));
    }
  }
  const found = [];
  for (const candidate of parents.keys()) {
    let at = candidate;
    while (at && at !== pid) at = parents.get(at);
    if (at === pid && candidate !== pid) {
      let command = '';
      try {
        command = readFileSync(`/proc/${candidate}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      } catch { /* gone by now */ }
      const start = startOf(candidate);
      if (start !== undefined) found.push({ pid: candidate, start, command });
    }
  }
  return found;
}
