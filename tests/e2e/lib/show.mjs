/*
 * show.mjs - a demo as somebody sees it: on a terminal of its own, made by script(1), or through
 * a pipe. What it prints is kept as its log and waited for; what it leaves behind is found.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Program, startOf, untilGone } from './program.mjs';

const E2E = join(dirname(fileURLToPath(import.meta.url)), '..');

/* Those whose leftovers nobody has looked at, because a test failed. */
const open = new Set();
process.once('exit', () => {
  for (const show of open) show.remove();
});

export class Show extends Program {
  /** Its folder for temporary files. */
  folder;
  #lent;

  /** Runs `command` for a shell; without `terminal` its standard input is empty. */
  constructor(command, { terminal = false, env = {} } = {}) {
    const folder = env.TMPDIR ?? mkdtempSync(join(tmpdir(), 'mcpx-show-'));
    super('it', terminal ? ['-qefc', command, '/dev/null'] : ['-c', `exec ${command}`], {
      program: terminal ? 'script' : 'sh',
      cwd: E2E,
      detached: true, /* a process group, as a shell makes one */
      env: { TMPDIR: folder, SHELL: '/bin/sh', ...env },
      stdin: terminal ? 'pipe' : 'ignore',
      stdout: 'joined',
    });
    this.folder = folder;
    this.#lent = env.TMPDIR !== undefined;
    open.add(this);
  }

  /** Ends what is left, and removes its folder, unless that was given to it. */
  remove() {
    open.delete(this);
    if (this.#lent) return;
    for (const { pid } of inheritors(`TMPDIR=${this.folder}`)) process.kill(pid, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What the person types. */
  type(text) {
    this.stdin.write(text);
  }

  /** Sends a signal to the program, or to its whole group, as a terminal does. */
  kill(signal, { group = false } = {}) {
    process.kill(group ? -this.pid : this.pid, signal);
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
