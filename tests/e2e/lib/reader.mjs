/*
 * reader.mjs - one who reads a page of the documentation from top to bottom and does what it says: every
 * command block as it stands, in a folder that looks like a checkout, with an empty home.
 * docs/testing.md, "Pages", has the rules.
 *
 * What is not as a reader has it, and said when it happens: "make" builds nothing (the programs are
 * built) and starts what the Makefile would; npx finds the packages of tests/e2e instead of fetching
 * them.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { PageError, readConsole, readPage } from './page.mjs';
import { descendants } from './program.mjs';
import { eventually, routerBinary } from './router.mjs';
import { patternOf, typedIn } from './shown.mjs';
import { Terminal } from './terminal.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGES = resolve(HERE, '../node_modules');
const SOURCE = resolve(HERE, '../../..');

/* "make run" starts what the Makefile says, "make TARGET" asks it whether there is such a target. */
const MAKE = `#!/bin/sh
plan=$(PATH="$MCPX_PAGE_PATH" make -n --no-print-directory "$@") || exit
echo "STUB make $*: the test has built already" >&2
[ "$1" != run ] || eval "$(echo "$plan" | tail -n 1)"
`;

export class Reader {
  #name;
  #path;
  #folder = mkdtempSync(join(tmpdir(), 'mcpx-page-'));
  #terminals = 0;
  /* Terminals in which a program runs: { terminal, command, level }, oldest first. */
  #running = [];
  /* Blocks that every terminal begins with. */
  #everywhere = [];
  #level = 1;
  #counts = { 'run': 0, 'not run': 0, 'no command': 0 };

  /** Of the page `name` of this tree, or of the file `path` under that name. */
  constructor(name, path = join(SOURCE, name)) {
    this.#name = name;
    this.#path = path;
    for (const folder of ['checkout', 'home', 'stubs', 'scratch']) mkdirSync(join(this.#folder, folder));
    this.checkout = join(this.#folder, 'checkout');
    for (const entry of readdirSync(SOURCE)) {
      if (entry !== 'build') symlinkSync(join(SOURCE, entry), join(this.checkout, entry));
    }
    symlinkSync(resolve(dirname(routerBinary()), '..'), join(this.checkout, 'build'));
    symlinkSync(PACKAGES, join(this.checkout, 'node_modules'));
    writeFileSync(join(this.#folder, 'stubs', 'make'), MAKE);
    chmodSync(join(this.#folder, 'stubs', 'make'), 0o755);
    this.env = this.#environment();
    this.terminal = this.#open();
  }

  #environment() {
    const env = Object.fromEntries(Object.entries(process.env)
      .filter(([variable]) => !/^(MCPX_|npm_|NODE_|XDG_|LS_COLORS|CLICOLOR)/.test(variable)));
    const programs = this.#name === 'README.md' ? [] : [join(this.checkout, 'build', 'bin')];
    return {
      ...env,
      HOME: join(this.#folder, 'home'),
      PATH: [join(this.#folder, 'stubs'), ...programs, process.env.PATH].join(delimiter),
      MCPX_PAGE_PATH: process.env.PATH,
      TERM: 'xterm',
      LC_ALL: 'C.UTF-8',
      NO_COLOR: '1',
      npm_config_update_notifier: 'false',
      npm_config_progress: 'false',
    };
  }

  #open() {
    this.#terminals += 1;
    return new Terminal({ scratch: join(this.#folder, 'scratch'), folder: this.checkout, env: this.env,
      name: `terminal-${this.#terminals}` });
  }

  #say(line, text) {
    console.log(`${this.#name}:${line}: ${text}`);
  }

  #fail(line, text) {
    throw new PageError(this.#name, line, text);
  }

  /** From the first line to the last. */
  async read() {
    for (const step of readPage(this.#path, this.#name)) {
      if (step.info === undefined) await this.#enter(step);
      else await this.#block(step);
    }
    await this.#stop(1);
    await this.terminal.close();
    console.log(`${this.#name}: ${Object.entries(this.#counts).map(([what, count]) => `${what} ${count}`)
      .join(', ')}`);
  }

  /* A program runs until the section ends in which it was started. */
  async #enter({ level }) {
    await this.#stop(level);
    this.#level = level;
  }

  async #block(block) {
    const does = this.#kinds[block.info];
    if (!does) {
      this.#fail(block.line - 1, `"${block.info}" says not what the block is; expected one of `
        + Object.keys(this.#kinds).join(', '));
    }
    this.#counts[(await does(block)) ?? 'run'] += 1;
  }

  /* What is done with a block, by the words after its fence; gives what it is counted as, if not "run". */
  #kinds = {
    sh: (block) => this.#commands(this.terminal, block),
    'sh in every terminal': async (block) => {
      this.#everywhere.push(block);
      await this.#commands(this.terminal, block);
    },
    'sh as root': (block) => this.#asRoot(block),
    console: (block) => this.#console(this.terminal, block),
    'console in a terminal of its own': (block) => this.#aside(block),
    json: (block) => this.#json(block),
    text: ({ line }) => {
      this.#say(line, 'no command');
      return 'no command';
    },
  };

  async #commands(terminal, { lines, line }) {
    this.#say(line, lines.find((text) => !text.startsWith('#')) ?? '');
    terminal.begin(lines.join('\n'), line);
    await this.#ended(terminal, line);
    this.#judge(terminal, line);
  }

  async #ended(terminal, line) {
    await this.#wait(terminal, line, () => terminal.status !== undefined, 'the command does not end');
  }

  async #wait(terminal, line, look, what) {
    try {
      await terminal.until(look, what);
    } catch (error) {
      this.#fail(line, error.message);
    }
  }

  #judge(terminal, line, allowed = [0]) {
    const [failure] = terminal.failures.filter(({ status }) => !allowed.includes(status));
    if (failure) {
      this.#fail(failure.line, `ends with ${failure.status}; the terminal shows:\n${terminal.end}`);
    }
    if (!allowed.includes(terminal.status)) {
      this.#fail(line, `ends with ${terminal.status}; the terminal shows:\n${terminal.end}`);
    }
  }

  /* What changes the machine is only read: by the shell, and by make, which has to know the target. */
  #asRoot({ lines, line }) {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: lines.join('\n'), encoding: 'utf8' });
    if (status !== 0) this.#fail(line, stderr);
    for (const [, target] of lines.join('\n').matchAll(/^sudo make (\S+)$/gm)) {
      const made = spawnSync('make', [target], { cwd: this.checkout, env: this.env, encoding: 'utf8' });
      if (made.status !== 0) this.#fail(line, made.stderr);
    }
    this.#say(line, `NOT RUN, it changes the machine as root: ${lines.join('; ')}`);
    return 'not run';
  }

  async #console(terminal, block) {
    for (const command of readConsole(block, this.#name)) {
      this.#say(command.line, `$ ${command.text}`);
      terminal.begin(command.text, command.line);
      const interrupted = await this.#converse(terminal, command);
      await this.#ended(terminal, command.line);
      const pattern = patternOf(command.shown);
      if (!new RegExp(`^${pattern}$`).test(terminal.output)) this.#differs(terminal, command);
      this.#judge(terminal, command.line, interrupted ? [0, 130] : [0]);
    }
  }

  #differs(terminal, { line, shown }) {
    this.#fail(line, `the page shows:\n${shown.join('\n')}\nthe terminal shows:\n${terminal.end}`);
  }

  /* Types what the page shows as typed, each after what stands before it; true when ^C was. */
  async #converse(terminal, { shown, line }) {
    let interrupted = false;
    for (const [index, text] of shown.entries()) {
      const input = typedIn(text);
      if (!input) continue;
      const before = new RegExp(`^${patternOf(shown.slice(0, index), input.prompt)}`);
      await this.#wait(terminal, line + 1 + index, () => before.test(terminal.output)
        || terminal.status !== undefined, `what stands before "${text}" is not shown`);
      if (input.interrupts) await terminal.interrupt();
      else terminal.type(input.keys);
      interrupted ||= input.interrupts;
    }
    return interrupted;
  }

  /* A program that stays: it is waited for until it has said what the page shows, in this order; what
   * else it logs may stand between. */
  async #aside(block) {
    const terminal = this.#open();
    for (const every of this.#everywhere) await this.#commands(terminal, every);
    const commands = readConsole(block, this.#name);
    if (commands.length !== 1) this.#fail(block.line, 'a terminal of its own is for one command');
    const [command] = commands;
    this.#say(command.line, `$ ${command.text}   (in a terminal of its own)`);
    terminal.begin(command.text, command.line);
    this.#running.push({ terminal, command, level: this.#level });
    const begun = new RegExp(`^${patternOf(command.shown.flatMap((text) => ['...', text]))}`);
    await this.#wait(terminal, command.line, () => begun.test(terminal.output)
      || terminal.status !== undefined, `the page shows:\n${command.shown.join('\n')}`);
    if (!begun.test(terminal.output)) this.#differs(terminal, command);
  }

  /** Ends what runs in sections of this level and below, the latest first, as a person does. */
  async #stop(level) {
    while (this.#running.some((one) => one.level >= level)) {
      const index = this.#running.findLastIndex((one) => one.level >= level);
      const [{ terminal, command }] = this.#running.splice(index, 1);
      if (!await terminal.interrupt()) {
        this.#fail(command.line, `ended with ${terminal.status} before its section does:\n${terminal.end}`);
      }
      await this.#ended(terminal, command.line);
      this.#judge(terminal, command.line, [0, 130]);
      await terminal.close();
    }
  }

  /* What an MCP client is configured with, or a configuration of the router. */
  async #json({ lines, line }) {
    const text = lines.join('\n');
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      this.#fail(line, error.message);
    }
    if (value.mcpServers) {
      for (const [name, server] of Object.entries(value.mcpServers)) await this.#client(line, name, server);
      return;
    }
    const file = join(this.#folder, 'scratch', `${line}.json`);
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(routerBinary(), ['--check', '--config', file],
      { encoding: 'utf8', env: this.env });
    this.#say(line, `mcpx-router --check --config: ${stdout.split('\n')[0]}`);
    if (status !== 0) this.#fail(line, stderr);
  }

  /* The variables of the page's terminal, from which a reader would start the client. */
  async #variables(line) {
    const file = join(this.#folder, 'scratch', 'env');
    this.terminal.begin(`env -0 > ${file}`, line);
    await this.#ended(this.terminal, line);
    return Object.fromEntries(readFileSync(file, 'utf8').split('\0').filter((text) => text.includes('='))
      .map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]));
  }

  async #client(line, name, server) {
    const env = await this.#variables(line);
    const client = new Client({ name: 'page', version: '1.0.0' }, { capabilities: {} });
    try {
      await client.connect(new StdioClientTransport({ ...server, env, cwd: this.checkout, stderr: 'inherit' }));
      const tools = await eventually(async () => {
        const listed = (await client.listTools()).tools;
        return listed.length > 0 && listed;
      }, 'it sees no tools'); /* a list waits three seconds for the topic's servers */
      this.#say(line, `an MCP client with the server "${name}": ${tools.length} tools, such as ${tools[0]?.name}`);
    } catch (error) {
      this.#fail(line, `an MCP client with the server "${name}": ${error.message}`);
    } finally {
      await client.close();
    }
  }

  /** Nothing is left: not even what a failure left running. */
  close() {
    for (const { pid } of descendants(process.pid)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch { /* gone by now */ }
    }
    rmSync(this.#folder, { recursive: true });
  }
}
