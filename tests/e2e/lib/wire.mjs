/*
 * wire.mjs - the same MCP messages over a pipe and over a topic, as the bytes they are: what a
 * server writes to its standard output, and the payload that a participant receives. Comparing
 * parsed values would not notice a number that was rounded on the way.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inTime } from './router.mjs';

/*
 * The kind of a message, derived from the JSON-RPC inside it. Only the edges may look into payloads,
 * so this table exists here and in libmcpx, never in the hub. kinds.test.mjs holds it against the
 * table of protocol section 2, as the conformance test does with the library's.
 */
const CONTEXT_OF = {
  'tools/call': (params) => params.name,
  'prompts/get': (params) => params.name,
  'permission/ask': (params) => params.name,
  'resources/read': (params) => params.uri,
  'resources/subscribe': (params) => params.uri,
  'resources/unsubscribe': (params) => params.uri,
  'completion/complete': ({ ref }) =>
    ({ 'ref/prompt': ref?.name, 'ref/resource': ref?.uri })[ref?.type],
  'tasks/get': (params) => params.taskId,
  'tasks/cancel': (params) => params.taskId,
  'tasks/result': (params) => params.taskId,
  'tasks/update': (params) => params.taskId,
  'notifications/resources/updated': (params) => params.uri,
  'notifications/tasks/status': (params) => params.taskId,
  'notifications/tasks': (params) => params.taskId,
};

/* The CONTEXT of a call, or undefined for methods that have none. */
function contextOf(method, params) {
  const context = CONTEXT_OF[method]?.(params ?? {});
  return typeof context === 'string' && context !== '' ? context : undefined;
}

/** `type:METHOD[:CONTEXT]` for a JSON-RPC request or notification. */
export function kindOf(type, { method, params }) {
  const context = contextOf(method, params);
  return context === undefined ? `${type}:${method}` : `${type}:${method}:${context}`;
}

/** What an import declares to its server, and how it answers when nobody else does. */
const CLIENT_CAPABILITIES = { elicitation: {}, sampling: {} };

/** The root that a pipe states when it is told to, as --root of an import. */
export const ROOT = 'file:///srv';

/** Answers to a server's questions, the same over pipe and topic; others get an error. */
const ANSWERS = {
  'roots/list': { roots: [{ uri: ROOT }] },
  'elicitation/create': { action: 'accept', content: { name: 'Ada', check: true } },
  'sampling/createMessage': { role: 'assistant', model: 'none',
    content: { type: 'text', text: 'sampled' } },
};

/** The text of a request, or without `id` of a notification. */
export const rpc = (id, method, params = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** The text of a tool's call. */
export const callOf = (id, name, args = {}, more = {}) => rpc(id, 'tools/call', { name, arguments: args, ...more });

function answerTo({ id, method }) {
  const result = ANSWERS[method];
  return result ? { jsonrpc: '2.0', id, result }
    : { jsonrpc: '2.0', id, error: { code: -32601, message: 'nobody' } };
}

/** A server's pipe. */
export class Pipe {
  /** Lines that answer nothing, as they came. */
  notices = [];
  #child;
  #waiting = new Map();

  static async open(command, args, env = {}, { roots = false, ms } = {}) {
    const pipe = new Pipe();
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...env } });
    pipe.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => pipe.#hear(line));
    await pipe.call(JSON.stringify({ jsonrpc: '2.0', id: 'init', method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: { ...CLIENT_CAPABILITIES, ...(roots && { roots: {} }) },
        clientInfo: { name: 'pipe', version: '1' } } }), ms);
    pipe.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    return pipe;
  }

  get pid() {
    return this.#child.pid;
  }

  #hear(line) {
    const message = JSON.parse(line);
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(line);
      this.#waiting.delete(message.id);
    } else if (message.id !== undefined) {
      this.write(JSON.stringify(answerTo(message)));
    } else {
      this.notices.push(line);
    }
  }

  write(line) {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Writes a request and returns the line that answers it within `ms`. */
  call(text, ms) {
    const { id, method } = JSON.parse(text);
    const answer = new Promise((done) => { this.#waiting.set(id, done); });
    this.write(text);
    return inTime(answer, () => `${method} was not answered`, ms);
  }

  /** The same, parsed. */
  async ask(text) {
    return JSON.parse(await this.call(text));
  }

  async close() {
    this.#child.stdin.end();
    this.#child.kill();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }
}

/** The bytes of the value of an envelope's `payload`. */
export function payloadText(raw) {
  const name = '"payload":';
  let at = raw.indexOf(name) + name.length;
  while (raw[at] !== '{') at += 1;
  let depth = 0;
  let quoted = false;
  for (let end = at; end < raw.length; end += 1) {
    if (quoted) {
      if (raw[end] === '\\') end += 1;
      else if (raw[end] === '"') quoted = false;
    } else if (raw[end] === '"') {
      quoted = true;
    } else if (raw[end] === '{') {
      depth += 1;
    } else if (raw[end] === '}' && (depth -= 1) === 0) {
      return raw.slice(at, end + 1);
    }
  }
  throw new Error('an envelope without an end');
}

/** A participant that writes and reads payloads as bytes; `participant` is a Participant. */
export class Seat {
  constructor(participant, peer) {
    this.participant = participant;
    this.peer = peer;
    participant.listen((envelope) => this.#hear(envelope));
  }

  /* A question of the server is answered as over the pipe. */
  #hear({ id, from, to, kind, payload }) {
    if (from !== this.peer || !to?.includes(this.participant.id)) return;
    if (!kind.startsWith('mcp/request:') || payload.id === undefined) return;
    this.participant.send(kind.replace('request', 'response'), answerTo(payload),
      { to: [from], correlation_id: id });
  }

  /** Sends a message; returns its envelope's id. */
  write(text, { correlation_id: about, to = [this.peer] } = {}) {
    const message = JSON.parse(text);
    const id = randomUUID();
    this.participant.sendText(`{"protocol":"mcpx/v0.1","id":"${id}",`
      + `"to":${JSON.stringify(to)},"kind":${JSON.stringify(kindOf('mcp/request', message))},${
        about ? `"correlation_id":${JSON.stringify(about)},` : ''}"payload":${text}}`);
    return id;
  }

  /** The message that answers the envelope `id`: `{ raw, envelope }`. */
  answer(id, ms) {
    return this.participant.until((e) => e.correlation_id === id
      && (e.kind.startsWith('mcp/response') || e.kind === 'system/error'), `the answer to ${id}`,
    { ms });
  }

  /** Sends a request and returns the payload that answers it, as bytes. */
  async call(text) {
    const { raw, envelope } = await this.answer(this.write(text));
    if (envelope.kind === 'system/error') throw new Error(envelope.payload.message);
    return payloadText(raw);
  }

  /** The same, parsed. */
  async ask(text) {
    return JSON.parse(await this.call(text));
  }
}
