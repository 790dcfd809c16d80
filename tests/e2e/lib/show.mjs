/*
 * show.mjs - a demo as somebody sees it: on a terminal of its own, made by script(1), or through
 * a pipe. What it prints is kept and waited for; what it leaves behind is found.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilGone, startOf } from './program.mjs';
import { inTime } from './router.mjs';
import { Watch } from './watch.mjs';

const E2E = join(dirname(fileURLToPath(import.meta.url)), '..');

/* Those whose leftovers nobody has looked at, because a test failed. */
const open = new Set();
process.once('exit', () => {
  for (const show of open) show.remove();
});

export class Show {
  /** All it printed. */
  out = '';
  /** Its folder for temporary files. */
  folder;
  #child;
  #ended;
  #lent;
  #watch = new Watch();

  /** Runs `command` for a shell; without `terminal` its standard input is empty. */
  constructor(command, { terminal = false, env = {} } = {}) {
    this.#lent = env.TMPDIR !== undefined;
    this.folder = env.TMPDIR ?? mkdtempSync(join(tmpdir(), 'mcpx-show-'));
    const [program, ...args] = terminal ? ['script', '-qefc', command, '/dev/null']
      : ['sh', '-c', `exec ${command}`];
    this.#child = spawn(program, args, {
      cwd: E2E,
      detached: true, /* a process group, as a shell makes one */
      env: { ...process.env, TMPDIR: this.folder, SHELL: '/bin/sh', ...env },
      stdio: [terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.out += text;
        this.#watch.changed();
      });
    }
    open.add(this);
    this.#ended = new Promise((done) => {
      this.#child.once('close', (code, signal) => {
        this.end = { code, signal };
        this.#watch.changed();
        done(this.end);
      });
    });
  }

  /** Ends what is left, and removes its folder, unless that was given to it. */
  remove() {
    open.delete(this);
    if (this.#lent) return;
    for (const { pid } of inheritors(`TMPDIR=${this.folder}`)) process.kill(pid, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Waits until what was printed matches. */
  async until(pattern) {
    const found = this.#watch.until(() => {
      const match = pattern.exec(this.out);
      if (!match && this.end) throw new Error(`it ended before ${pattern}\n${this.out}`);
      return match ?? undefined;
    });
    return inTime(found, () => `it did not print ${pattern}\n${this.out}`);
  }

  /** What the person types. */
  type(text) {
    this.#child.stdin.write(text);
  }

  /** Sends a signal to the program, or to its whole group, as a terminal does. */
  kill(signal, { group = false } = {}) {
    process.kill(group ? -this.#child.pid : this.#child.pid, signal);
  }

  /** Waits for its end; `{ code, signal }`. */
  async over() {
    return inTime(this.#ended, () => `it did not end\n${this.out}`);
  }

  /**
   * Waits until every process is gone that was started in the course of it, whoever its parent is now;
   * gives the names of the files that are left in its folder, which goes.
   */
  async leftovers() {
    await untilGone(inheritors(`TMPDIR=${this.folder}`));
    const names = readdirSync(this.folder);
    this.remove();
    return names;
  }
}

/* Every process that has NAME=VALUE in its environment. */
function inheritors(variable) {
  const found = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (environment.includes(variable)) found.push({ pid, start: startOf(pid), command });
    } catch { /* gone by now, or somebody else's */ }
  }
  return found.filter(({ start }) => start !== undefined);
}
