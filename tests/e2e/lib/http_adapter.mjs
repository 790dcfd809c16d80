/*
 * http_adapter.mjs - a program that speaks MCP on its standard input and output, served as
 * streamable HTTP: one process per session. Thin on purpose: what a test finds different behind
 * two of these is different between the programs, not between transports.
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
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

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

/** A program behind a transport. */
class Piped {
  #asked = new Map(); /* JSON-RPC id -> progress token of requests not answered */
  #child;

  constructor([command, ...args], transport) {
    this.transport = transport;
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdin.on('error', () => {});
    transport.onmessage = (message) => this.#toChild(message);
    transport.onclose = () => this.#child.stdin.end();
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#toClient(line));
  }

  #toChild(message) {
    if (message.method !== undefined && message.id !== undefined) {
      this.#asked.set(message.id, message.params?._meta?.progressToken);
    }
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #relatedTo({ method, params }) {
    const entries = [...this.#asked];
    if (method !== 'notifications/progress') return entries.at(-1)?.[0];
    return entries.find(([, token]) => token === params?.progressToken)?.[0];
  }

  #toClient(line) {
    const message = JSON.parse(line);
    const answers = message.method === undefined;
    const relatedRequestId = answers ? message.id : this.#relatedTo(message);
    if (answers) this.#asked.delete(message.id);
    this.transport.send(message, { relatedRequestId }).catch(() => {});
  }

  async close() {
    const ended = this.#child.exitCode !== null || this.#child.signalCode !== null;
    if (!ended) {
      this.#child.stdin.end();
      await once(this.#child, 'exit');
    }
  }
}

export class HttpAdapter {
  #sessions = new Map(); /* session id -> transport */
  #programs = [];
  #http;

  /**
   * `open` is told of every new session. It either returns the command line of a program to serve
   * it, or has connected something of its own to the transport it was given.
   */
  static async start(open, port = 0) {
    const adapter = new HttpAdapter();
    adapter.#http = createServer((request, response) => {
      adapter.#handle(request, response, open).catch((error) => {
        response.writeHead(500).end(error.message);
      });
    });
    adapter.#http.listen(port, '127.0.0.1');
    await once(adapter.#http, 'listening');
    adapter.url = `http://127.0.0.1:${adapter.#http.address().port}/mcp`;
    return adapter;
  }

  async #begin(open) {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new EventStore(),
      onsessioninitialized: (id) => this.#sessions.set(id, transport),
    });
    const command = await open(transport, this.#programs.length);
    if (command) this.#programs.push(new Piped(command, transport));
    return transport;
  }

  async #handle(request, response, open) {
    const id = request.headers['mcp-session-id'];
    const begins = id === undefined && request.method === 'POST';
    const transport = begins ? await this.#begin(open) : this.#sessions.get(id);
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
