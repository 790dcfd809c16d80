/*
 * terminal.mjs - a terminal with a shell in which a page's commands are run as somebody types them:
 * variables and functions stay, programs find a real terminal (util-linux's script makes it), and
 * each command that fails is reported with the line of the page that it stands in.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { descendants } from './program.mjs';
import { inTime } from './router.mjs';
import { asSeen } from './shown.mjs';
import { Watch } from './watch.mjs';

/* The shell: it runs each file that it is told of, and says on the screen how that went. A ^C is
 * for the program that runs. */
const SHELL = `
stty cols 240 rows 50
set -E -o pipefail
trap : INT
exec 9<>"$MCPX_PAGE_ORDERS"
while IFS= read -r file <&9 && [ "$file" != end ]; do
    printf '\\036%s begin 0\\036' "$MCPX_PAGE_MARK"
    trap 'printf "\\036%s fail %s %s\\036" "$MCPX_PAGE_MARK" "$LINENO" "$?"' ERR
    . "$file" 9>&-
    status=$?
    trap - ERR
    printf '\\036%s end %s\\036' "$MCPX_PAGE_MARK" "$status"
done
`;

export class Terminal {
  #child;
  #orders;
  #mark = randomBytes(8).toString('hex');
  #raw = '';
  #from = 0;
  #watch = new Watch();
  #files = 0;
  #name;

  /** Opens a terminal in `folder`; its own files go to `scratch`. */
  constructor({ scratch, folder, env, name }) {
    this.#name = join(scratch, name);
    spawnSync('mkfifo', [`${this.#name}.orders`]);
    writeFileSync(`${this.#name}.sh`, SHELL);
    this.#orders = openSync(`${this.#name}.orders`, 'r+');
    this.#child = spawn('script', ['-q', '-e', '-f', '-c', `exec bash ${this.#name}.sh`, '/dev/null'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...env, MCPX_PAGE_ORDERS: `${this.#name}.orders`, MCPX_PAGE_MARK: this.#mark },
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.setEncoding('utf8').on('data', (text) => {
      this.#raw += text;
      this.#watch.changed();
    });
    this.closed = new Promise((done) => { this.#child.once('close', done); });
    const killOnExit = () => this.#child.kill('SIGKILL');
    process.once('exit', killOnExit);
    this.closed.then(() => {
      closeSync(this.#orders);
      process.removeListener('exit', killOnExit);
    });
  }

  #marks(word) {
    const pattern = new RegExp(`\\x1e${this.#mark} ${word} ([0-9 ]+)\\x1e`, 'g');
    return [...this.#raw.slice(this.#from).matchAll(pattern)].map((match) => match[1].split(' ').map(Number));
  }

  /** What the command that was begun last has said so far, as the screen shows it. */
  get output() {
    const said = this.#raw.slice(this.#from).replace(/\x1e[0-9a-f]+ (?:begin|fail|end) [0-9 ]+\x1e/g, '');
    return asSeen(said);
  }

  /** The end of it, for a complaint. */
  get end() {
    return this.output.split('\n').slice(-40).map((line) => line.slice(0, 240)).join('\n');
  }

  /** The exit status of the command that was begun last; undefined while it runs. */
  get status() {
    return this.#marks('end').at(-1)?.[0];
  }

  /** The commands that failed: `{ line, status }`. */
  get failures() {
    return this.#marks('fail').map(([line, status]) => ({ line, status }));
  }

  /** Begins `text`, whose first line is number `line` of its page. */
  begin(text, line) {
    const file = `${this.#name}.${this.#files += 1}`;
    writeFileSync(file, `${'\n'.repeat(line - 1)}${text}\n`);
    this.#from = this.#raw.length;
    writeSync(this.#orders, `${file}\n`);
  }

  type(keys) {
    this.#child.stdin.write(keys);
  }

  /* What the shell has started for the command; a copy of the shell is about to become that. */
  #programs() {
    if (this.#marks('begin').length === 0) return [];
    return descendants(this.#child.pid).filter(({ command }) => !command.includes(`${this.#name}.sh`));
  }

  /**
   * Types ^C, once there is a program for which it is meant: the shell would take it otherwise. False
   * when the command has ended instead.
   */
  async interrupt() {
    const begun = (async () => {
      while (this.status === undefined && this.#programs().length === 0) {
        await new Promise((done) => { setTimeout(done, 10); });
      }
    })();
    await inTime(begun, 'no program runs that ^C would end');
    if (this.status !== undefined) return false;
    this.type('\x03');
    return true;
  }

  /** Waits until `look()` is true. */
  until(look, what) {
    return inTime(this.#watch.until(() => look() || undefined), () => `${what}; the terminal shows:\n${this.end}`);
  }

  async close() {
    writeSync(this.#orders, 'end\n');
    await inTime(this.closed, 'a terminal did not close');
  }
}
