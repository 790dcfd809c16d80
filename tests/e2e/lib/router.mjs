/*
 * router.mjs - one mcpx-router process for the length of a test: started on a free port, asked
 * for its address by reading the line it prints, stopped with SIGTERM, and expected to exit 0.
 * Nothing here waits for a fixed time; every wait ends with an event or fails with the log.
 */
import { createHash, createHmac, generateKeyPairSync, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Program } from './program.mjs';

/** How long anything may take before a test gives up; sanitizer builds on busy machines set more. */
export const DEADLINE_MS = Number(process.env.MCPX_E2E_DEADLINE_MS ?? 180000);

const HERE = dirname(fileURLToPath(import.meta.url));

export function routerBinary() {
  const build = process.env.MCPX_BINARY_DIR ?? resolve(HERE, '../../../build');
  return join(build, 'bin', 'mcpx-router');
}

export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Rejects with `what` unless `promise` settles before the deadline. */
export async function inTime(promise, what, ms = DEADLINE_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${typeof what === 'string' ? what : what()} `
      + `(not within ${ms} ms)`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What `look()` gives, asked again and again until it is something: for what tells nobody that it
 * has happened.
 */
export async function eventually(look, what, ms = DEADLINE_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) {
      throw new Error(`${typeof what === 'string' ? what : what()} (not within ${ms} ms)`);
    }
    await pause(20);
  }
}

/** What a configuration has instead of a token. */
export const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** The token of a participant that a configuration names, and its entry there. */
export const tokenOf = (id) => `token-of-${id}`;
export const person = (id, grants, more = {}) =>
  ({ token_sha256: sha256(tokenOf(id)), topics: ['*'], grants, ...more });

/** The entries of all of these: `{ id: grants }`. */
export const people = (all) => Object.fromEntries(
  Object.entries(all).map(([id, grants]) => [id, person(id, grants)]));

/** Settings of an audit beside the configuration, and the file with its key. */
export const AUDIT = { folder: 'audit', key_file: 'audit.key' };
export const auditKey = () => ({ 'audit.key':
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) });

/**
 * A port for a router that is going to be restarted. It is below those that systems give to whoever
 * asks for any, so nobody takes it in between.
 */
export async function freePort() {
  for (;;) {
    const port = 10000 + randomInt(20000);
    const server = createServer();
    const isFree = await new Promise((done) => {
      server.once('error', () => done(false)).listen(port, '127.0.0.1', () => done(true));
    });
    if (!isFree) continue;
    await new Promise((done) => { server.close(done); });
    return port;
  }
}

/** A JWT of an hour, unless the claims say otherwise. */
export function signToken(secret, claims) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const text = `${part({ alg: 'HS256' })}.${part({ exp, ...claims })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export class Router {
  #program;
  #secret;
  #directory;
  /** What must never stand in its log: stop() looks for it, when nothing can come any more. */
  secrets = [];

  /**
   * Starts a router: in dev mode, or with `config`, an object that is written to a file in a
   * folder that goes away with the router; `files` (name -> text) are put beside it. `args` are
   * appended to the command line; with --listen among them it listens there and nowhere else, so that
   * `url` is the one that its successor will have too. `isActivated`: its listening socket, on the
   * port of that --listen, is held by another process, which can restart it.
   */
  static async start({ config, files = {}, args = [], env = {}, isActivated = false } = {}) {
    const router = new Router();
    router.#secret = env.MCPX_AUTH_JWT_SECRET;
    const command = args.includes('--listen') ? [...args] : ['--listen', '127.0.0.1:0', ...args];
    if (config) {
      router.#directory = mkdtempSync(join(tmpdir(), 'mcpx-e2e-'));
      const everything = { ...files, 'router.json': JSON.stringify(config) };
      for (const [name, text] of Object.entries(everything)) {
        writeFileSync(join(router.#directory, name), text, { mode: 0o600 });
      }
      command.unshift('--config', join(router.#directory, 'router.json'));
    }
    if (!config || args.includes('--dev')) command.unshift(...(args.includes('--dev') ? [] : ['--dev']));
    let program = routerBinary();
    if (isActivated) {
      const port = command[command.indexOf('--listen') + 1].split(':').pop();
      command.unshift(port, program);
      program = join(dirname(dirname(program)), 'tests', 'keeper');
    }
    router.#program = Program.start('mcpx-router', command,
      { env, stdout: 'kept', cwd: router.#directory, program });
    await router.#program.says(/^listening wss?:\/\/\S+\n/m);
    [router.url] = router.urls;
    router.http = router.url.replace(/^ws/, 'http').replace(/\/ws$/, '');
    return router;
  }

  /** The same; `t` is a test, or has another `after(function)`, with which the router ends. */
  static async startFor(t, options) {
    const router = await Router.start(options);
    t.after(() => router.stop());
    return router;
  }

  get log() {
    return this.#program.log;
  }

  /** Where it listens; `url` is the first. */
  get urls() {
    return [...this.#program.output.matchAll(/^listening (wss?:\/\/\S+)\n/gm)].map(([, url]) => url);
  }

  /** Where `config` and `files` were written. */
  get folder() {
    return this.#directory;
  }

  get pid() {
    return this.#program.pid;
  }

  /** Writes another configuration, or text in its place; reload() has it read. */
  configure(config) {
    writeFileSync(join(this.#directory, 'router.json'), typeof config === 'string' ? config : JSON.stringify(config));
  }

  reload(token) {
    return this.request('POST', '/admin/reload', { token, body: {} });
  }

  /**
   * A token from the dev-mode endpoint; without `capabilities`, with the router's default ones. One
   * that outlives the router is made here, where the router was given a secret to know it by.
   */
  async token(participantId, topic, capabilities) {
    if (this.#secret) {
      return signToken(this.#secret, { participantId, topic,
        capabilities: capabilities ?? ['mcp/*', 'chat'] });
    }
    const answer = await this.request('POST', '/v0.1/auth/token', {
      body: { participantId, topic, ...(capabilities && { capabilities }) },
    });
    if (answer.status !== 200) {
      throw new Error(`no token for ${participantId}: ${answer.status} ${answer.text}`);
    }
    return answer.json.token;
  }

  /** One HTTP request; never throws for a status. */
  async request(method, path, { token, body, headers = {} } = {}) {
    const response = await inTime(fetch(this.http + path, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    }), `${method} ${path} was not answered`);
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    return {
      status: response.status,
      headers: response.headers,
      type,
      text,
      json: /[/+]json\b/.test(type) ? JSON.parse(text) : undefined,
    };
  }

  get(path, token) {
    return this.request('GET', path, { token });
  }

  /** The value of a metric; without labels in its name, of the first of that name. */
  async metric(name) {
    const { text } = await this.get('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(name) && ' {'.includes(one[name.length]));
    return Number(line?.split(' ').at(-1));
  }

  /** The lines of the AUDIT, as far as they are written. */
  audit() {
    const folder = join(this.folder, AUDIT.folder);
    return readdirSync(folder).filter((name) => name.endsWith('.jsonl')).sort()
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
  }

  /** One that is activated ends as by stop(), and its successor takes its place. Waits for nothing. */
  restart() {
    this.#program.kill('SIGHUP');
  }

  /** SIGTERM, then exit 0: a crash or a leak report at the end fails the test that caused it. */
  async stop() {
    await this.#program.stop().finally(() => this.#clear());
    if (this.secrets.some((secret) => this.log.includes(secret))) {
      throw new Error(`a secret stands in the log\n${this.log}`);
    }
  }

  /** For tests about sudden death. */
  async kill() {
    this.#program.kill('SIGKILL');
    await this.#program.end();
    this.#clear();
  }

  #clear() {
    if (this.#directory) rmSync(this.#directory, { recursive: true, force: true });
  }
}
