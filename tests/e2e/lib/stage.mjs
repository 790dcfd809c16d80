/*
 * stage.mjs - what a demo is told with: steps, the commands that really run (what is printed after
 * "$ " is what the shell is given), what they say, and checks, the first of which that fails ends
 * the demo. So a reader can do the same by hand, and a test can run it.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { descendants, Program, startOf } from './program.mjs';
import { DEADLINE_MS, inTime, routerBinary } from './router.mjs';

const colourful = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint('1');
export const dim = paint('2');
export const red = paint('31');
export const green = paint('32');
export const yellow = paint('33');
export const cyan = paint('36');

const PACKAGES = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.bin');
/** Where the programs of the demos are: agents and clients in a few lines. */
export const DEMOS = join(dirname(fileURLToPath(import.meta.url)), '..', 'demos');

/* NAME=VALUE before a command; the shell then becomes the command, whose pid is the child's. */
const ASSIGNMENTS = /^(?:[A-Z_]+=(?:\$\([^)]*\)|\S)+ )*/;

/** A shell command in the background; what it says is kept line by line. */
class Background extends Program {
  lines = [];
  #rest = { log: '', output: '' };
  #shown = 0;

  constructor(name, command, options) {
    super(name, ['-c', command.replace(ASSIGNMENTS, '$&exec ')], { ...options, program: 'sh', stdout: 'kept' });
  }

  took(where, text) {
    const lines = (this.#rest[where] + text).split('\n');
    this.#rest[where] = lines.pop();
    this.lines.push(...lines);
  }

  /** Waits until a line from number `since` on matches; returns the match. */
  until(pattern, { since = 0, ms } = {}) {
    return this.holds(() => this.lines.slice(since).map((line) => pattern.exec(line)).find(Boolean), pattern, ms);
  }

  /** What it said since the last time it was shown. */
  fresh() {
    const lines = this.lines.slice(this.#shown);
    this.#shown = this.lines.length;
    return lines;
  }
}

/** What ends a demo that was told to end; `code` is the exit code for it. */
export class Interruption extends Error {
  constructor(signal) {
    super(`ended by ${signal}`);
    this.code = 128 + constants.signals[signal];
  }
}

/** A line that the person at the terminal types; empty when there is none. The terminal stays as it is. */
export async function ask(question) {
  process.stdout.write(question);
  const terminal = createInterface({ input: process.stdin });
  const line = await new Promise((done) => {
    terminal.once('line', done).once('close', () => done(''));
  });
  terminal.close();
  return line.trim();
}

function signalAll(family, signal) {
  for (const { pid } of alive(family)) {
    try {
      process.kill(pid, signal);
    } catch { /* gone by now */ }
  }
}

export class Stage {
  /** How many steps there were. */
  steps = 0;
  /** Rejected with an Interruption when a signal comes, or when nobody reads what is printed. */
  interrupted;
  #env = { ...process.env };
  #running = new Map();
  #cleanups = [];
  #began = Date.now();
  #interruption;

  constructor(title) {
    if (!existsSync(routerBinary())) {
      throw new Error(`${routerBinary()} is not there: run "make build" first`);
    }
    this.#heed();
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcpx-demo-')));
    process.once('exit', () => {
      signalAll(descendants(process.pid), 'SIGKILL');
      rmSync(this.folder, { recursive: true, force: true });
    });
    console.log(bold(title));
  }

  /* However the terminal goes, the demo ends in order. Who presses Ctrl-C twice does not wait for that. */
  #heed() {
    let fail;
    this.interrupted = new Promise((_, reject) => { fail = reject; });
    this.interrupted.catch(() => {});
    const interrupt = (signal) => {
      if (this.#interruption && signal === 'SIGINT') process.exit(this.#interruption.code);
      this.#interruption ??= new Interruption(signal);
      fail(this.#interruption);
    };
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, interrupt);
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => interrupt('SIGHUP'));
  }

  /**
   * The Interruption, if there is one. A terminal tells the programs that we started as well, and on
   * a busy machine they may have ended before we are told: so that is waited for, a while.
   */
  async told() {
    const enough = new Promise((done) => { setTimeout(done, 3000); });
    await Promise.race([this.interrupted.catch(() => {}), enough]);
    return this.#interruption;
  }

  /** Makes commands find the built programs and those of npm. */
  #prepare() {
    const programs = dirname(routerBinary());
    this.#env.PATH = [programs, PACKAGES, process.env.PATH].join(delimiter);
    this.say(dim('What follows "$" is what runs. The same by hand begins with:'));
    this.say(`$ export PATH=${programs}:${PACKAGES}:$PATH`);
    this.say('$ cd $(mktemp -d)   ' + dim(`# here ${this.folder}`));
  }

  /** `action` is done when the demo ends, the latest first. */
  after(action) {
    this.#cleanups.unshift(action);
  }

  /** Prints a line as it is. Once the demo was told to end, this and all that prints ends the play. */
  print(text = '') {
    if (this.#interruption) throw this.#interruption;
    console.log(text);
  }

  say(text = '') {
    this.print(text === '' ? '' : `   ${text}`);
  }

  /** Begins a scene. With DEMO_PAUSE=1 it waits for Enter before all but the first. */
  async step(title) {
    const pauses = process.env.DEMO_PAUSE === '1' && process.stdin.isTTY;
    if (pauses && this.steps > 0) await ask(dim('\n   Enter goes on '));
    this.steps += 1;
    this.print(`\n${bold(`${this.steps}. ${title}`)}`);
  }

  /** Ends the demo unless `truth` holds; says so when it does. */
  check(truth, text) {
    if (!truth) throw new Error(`this does not hold: ${text}`);
    this.say(green(`✓ ${text}`));
  }

  /** Sets a variable for all commands that follow. */
  export(name, value) {
    this.#env[name] = value;
    this.say(`$ export ${name}=${value}`);
  }

  /** A secret for tokens that outlive the router; not shown, because secrets are not. */
  secret(name) {
    this.#env[name] = randomBytes(32).toString('hex');
    this.say(`$ export ${name}=$(openssl rand -hex 32)`);
  }

  /** A file, shown. */
  file(name, text) {
    this.say(`$ cat ${name}`);
    this.show(undefined, text.split('\n'), 20, 300);
    writeFileSync(join(this.folder, name), text);
  }

  #options() {
    return { cwd: this.folder, env: this.#env };
  }

  /**
   * Runs a command to its end. `code` is the exit code it must have (null: any), `lines` how many lines of its
   * output are shown at most, `stdin` "inherit" lets the person at the terminal answer. Returns
   * `{ code, out, err, ms }`.
   */
  async run(command, { code = 0, lines = 12, stdin = 'ignore', ms = DEADLINE_MS } = {}) {
    this.say(`$ ${command}`);
    const began = Date.now();
    const inherits = stdin === 'inherit' ? 'inherit' : 'pipe';
    const child = spawn('sh', ['-c', command], { ...this.#options(), stdio: [stdin, 'pipe', inherits] });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
    child.stderr?.setEncoding('utf8').on('data', (text) => { err += text; });
    const ended = new Promise((done) => { child.once('close', done); });
    const status = stdin === 'inherit' ? await ended : await inTime(ended, () => `${command}\n${err}`, ms);
    this.show(undefined, [...err.split('\n'), ...out.split('\n')].filter((line) => line !== ''), lines);
    if (code !== null && status !== code) {
      throw new Error(`exit code ${status} instead of ${code}: ${command}`);
    }
    return { code: status, out, err, ms: Date.now() - began };
  }

  /** Starts a command that stays; ready when it says `ready`. */
  async start(name, command, { ready } = {}) {
    this.say(`$ ${command} &`);
    const background = new Background(name, command, this.#options());
    this.#running.set(name, background);
    if (ready) await background.until(ready);
    return background;
  }

  /** Shows lines, or what a background command said since it was last shown. */
  show(name, lines = this.#running.get(name).fresh(), most = 40, width = 150) {
    const mark = name === undefined ? '' : cyan(`${name} | `);
    for (const line of lines.slice(0, most)) {
      this.say(`  ${mark}${dim(line.length > width ? `${line.slice(0, width - 3)}...` : line)}`);
    }
    if (lines.length > most) this.say(dim(`  ... and ${lines.length - most} lines more`));
  }

  /** The router on a free port, or on the one it had before; everything else finds it by MCPX_URL. */
  async router({ port = 0 } = {}) {
    const isFirst = this.url === undefined;
    if (isFirst) this.#prepare();
    const router = await this.start('router', `mcpx-router --dev --listen 127.0.0.1:${port}`);
    const [, url] = await router.until(/^listening (ws:\S+)\/ws$/);
    if (isFirst) {
      this.url = url;
      this.export('MCPX_URL', url);
      this.export('MCPX_TOPIC', 'demo');
    }
    router.port = new URL(url).port;
    return router;
  }

  /** A server of npm at the table. */
  async import(name, program) {
    return this.start(name, `mcpx-bridge import --as ${name} -- ${program}`, { ready: /is ready/ });
  }

  /** A token file for `id` with exactly these grants. */
  async token(id, capabilities) {
    if (this.#env.MCPX_AUTH_JWT_SECRET) {
      await this.#sign(id, capabilities);
      return;
    }
    const wish = JSON.stringify({ participantId: id, topic: 'demo', capabilities });
    await this.run(`(umask 077; curl -s $(echo $MCPX_URL | sed s/ws/http/)/v0.1/auth/token -d '${wish}' `
      + `| sed 's/.*"token":"\\([^"]*\\)".*/\\1/' > ${id}.token)`);
  }

  /* With a secret of one's own, and without the router. */
  async #sign(id, capabilities) {
    const claims = JSON.stringify({ participantId: id, topic: 'demo', capabilities,
      exp: Math.floor(Date.now() / 1000) + 3600 });
    await this.run("b64() { openssl base64 -A | tr '+/' '-_' | tr -d =; }; "
      + `body=$(printf '{"alg":"HS256"}' | b64).$(printf %s '${claims}' | b64); `
      + '(umask 077; echo "$body.$(printf %s "$body" | openssl dgst -sha256 '
      + `-hmac "$MCPX_AUTH_JWT_SECRET" -binary | b64)" > ${id}.token)`);
  }

  /** What an MCP client is configured with to see the room as one server. */
  client(file, id, options = []) {
    const args = ['expose', '--url', this.url, '--topic', 'demo', '--token-file', `${id}.token`,
      ...options].map((word) => JSON.stringify(word)).join(', ');
    this.file(file, `{"mcpServers": {"room": {"command": "mcpx-bridge",\n  "args": [${args}]}}}`);
  }

  /** Ends a background command with SIGTERM, and expects exit code 0 and nothing left behind. */
  async stop(background, { signal = 'SIGTERM', code = 0 } = {}) {
    const family = descendants(background.pid);
    this.say(`$ kill ${signal === 'SIGTERM' ? '' : `-${signal.slice(3)} `}${background.pid}   `
      + dim(`# ${background.name}`));
    background.kill(signal);
    await this.#gone(background, family, code);
  }

  async #gone(background, family, code) {
    const end = await background.end();
    this.#running.delete(background.name);
    if (code !== undefined && end.code !== code) {
      throw new Error(`${background.name}: ${end.signal ?? `exit code ${end.code}`}\n`
        + background.lines.slice(-20).join('\n'));
    }
    return family;
  }

  /** Waits until `look()` holds, looking ten times a second: for what tells nobody that it happened. */
  async until(look, what) {
    const end = Date.now() + DEADLINE_MS;
    while (!look()) {
      if (Date.now() > end) throw new Error(`${what}: not within ${DEADLINE_MS} ms`);
      await new Promise((done) => { setTimeout(done, 100); });
    }
  }

  /** kill -9 of any process; `{ ms }` until the background command `until` has ended. */
  async kill(pid, until) {
    const began = Date.now();
    await this.run(`kill -9 ${pid}`);
    await until.end();
    return { ms: Date.now() - began };
  }

  /** Ends everything in the order of its age, youngest first, and says how it went. */
  async close() {
    const family = descendants(process.pid);
    const faults = [];
    const attempt = async (action) => {
      try {
        await action();
      } catch (error) {
        faults.push(error);
      }
    };
    for (const action of this.#cleanups) await attempt(action);
    for (const background of [...this.#running.values()].reverse()) {
      if (!background.ended) background.kill('SIGTERM');
      await attempt(() => this.#gone(background, [], undefined));
    }
    /* What was just being started or run to its end stands in no list. */
    if (this.#interruption) signalAll([...family, ...descendants(process.pid)], 'SIGTERM');
    await attempt(() => this.until(() => alive(family).length === 0, 'nothing is left over'));
    signalAll(family, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
    if (faults.length > 0 && !this.#interruption) throw faults[0];
    return ((Date.now() - this.#began) / 1000).toFixed(1);
  }
}

/** Those of `family` (as descendants() gives it) that still run. */
export function alive(family) {
  return family.filter(({ pid, start }) => start !== undefined && startOf(pid) === start);
}
