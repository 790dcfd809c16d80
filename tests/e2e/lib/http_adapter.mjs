/*
 * http_adapter.mjs - a program that speaks MCP on its standard input and output, served as
 * streamable HTTP: one process per session, and one for all requests of 2026-07-28, which has none. Thin on
 * purpose: what a test finds different behind two of these is different between the programs, not between
 * transports.
 *
 * A pipe does not say which request a message from the server belongs to, and HTTP wants to know.
 * Progress is told by its token; anything else goes with the newest request that is not answered,
 * or, without one, to the session's own stream.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
/* Of errors that HTTP has a word for. */
const STATUS = { '-32601': 404, '-32602': 400, '-32021': 400, '-32022': 400 };

/** Keeps every event of a session, so that a client may ask for what it missed. */
class EventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return `${this.#events.length - 1}`;
  }

  async replayEventsAfter(last, { send }) {
    const { streamId } = this.#events[Number(last)] ?? {};
    for (let i = Number(last) + 1; i < this.#events.length; i += 1) {
      if (this.#events[i].streamId === streamId) await send(`${i}`, this.#events[i].message);
    }
    return streamId;
  }
}

/** A program: what it says goes to `hear(message, id)`, with the id of the request it belongs to. */
class Piped {
  #asked = new Map(); /* JSON-RPC id -> progress token of requests not answered */
  #child;

  constructor([command, ...args], hear) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdin.on('error', () => {});
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      const answers = message.method === undefined;
      const related = answers ? message.id : this.#relatedTo(message);
      if (answers) this.#asked.delete(message.id);
      hear(message, related);
    });
  }

  say(message) {
    if (message.method !== undefined && message.id !== undefined) {
      this.#asked.set(message.id, message.params?._meta?.progressToken);
    }
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #relatedTo({ method, params }) {
    const entries = [...this.#asked];
    if (params?._meta?.[SUBSCRIPTION] !== undefined) return params._meta[SUBSCRIPTION];
    if (method !== 'notifications/progress') return entries.at(-1)?.[0];
    return entries.find(([, token]) => token === params?.progressToken)?.[0];
  }

  end() { this.#child.stdin.end(); }

  async close() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.stdin.end();
    await once(this.#child, 'exit');
  }
}

/** A program of 2026-07-28: each request has a stream of its own, once there is more than its answer. */
class Stateless {
  #program;
  #open = new Map(); /* our id -> { id, response } */
  #count = 0;

  constructor(command) {
    this.#program = new Piped(command, (message, own) => this.#hear(message, own));
  }

  ask({ id, ...message }, response) {
    const own = this.#count += 1;
    this.#open.set(own, { id, response });
    response.on('close', () => this.#open.delete(own) && this.#program.say(
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: own } }));
    this.#program.say({ id: own, ...message });
  }

  #hear(message, own) {
    const { id, response } = this.#open.get(own) ?? {};
    if (!response) return;
    const isAnswer = message.method === undefined;
    if (isAnswer) this.#open.delete(own);
    const text = JSON.stringify({ ...message, ...(isAnswer && { id }) },
      (name, value) => (name === SUBSCRIPTION ? id : value));
    if (isAnswer && !response.headersSent) {
      response.writeHead(STATUS[message.error?.code] ?? 200, { 'content-type': 'application/json' }).end(text);
      return;
    }
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${text}\n\n`);
    if (isAnswer) response.end();
  }

  close() { return this.#program.close(); }
}

export class HttpAdapter {
  #sessions = new Map(); /* session id -> transport */
  #programs = [];
  #stateless;
  #http;

  /** `open(number)` gives the command line of the program for each new session. */
  static async start(open) {
    const adapter = new HttpAdapter();
    adapter.#http = createServer((request, response) => adapter.#handle(request, response, open)
      .catch((error) => response.writeHead(500).end(error.message))).listen(0, '127.0.0.1');
    await once(adapter.#http, 'listening');
    adapter.url = `http://127.0.0.1:${adapter.#http.address().port}/mcp`;
    return adapter;
  }

  #begin(open) {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new EventStore(),
      onsessioninitialized: (id) => this.#sessions.set(id, transport),
    });
    const program = new Piped(open(this.#programs.length), (message, relatedRequestId) =>
      transport.send(message, { relatedRequestId }).catch(() => {}));
    transport.onmessage = (message) => program.say(message);
    transport.onclose = () => program.end();
    this.#programs.push(program);
    return transport;
  }

  async #handle(request, response, open) {
    const { 'mcp-session-id': id, 'mcp-protocol-version': version = '2025' } = request.headers;
    if (request.method === 'POST' && !version.startsWith('202') || version >= '2026') {
      if (!this.#stateless) this.#programs.push(this.#stateless = new Stateless(open(0)));
      this.#stateless.ask(await json(request), response);
      return;
    }
    const begins = id === undefined && request.method === 'POST';
    const transport = begins ? this.#begin(open) : this.#sessions.get(id);
    if (transport === undefined) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({
        jsonrpc: '2.0', error: { code: -32000, message: 'No valid session ID' }, id: null }));
      return;
    }
    await transport.handleRequest(request, response);
  }

  /** Ends every program by ending its input, and waits for it. */
  async close() {
    this.#http.close();
    this.#http.closeAllConnections();
    await Promise.all(this.#programs.map((program) => program.close()));
  }
}
