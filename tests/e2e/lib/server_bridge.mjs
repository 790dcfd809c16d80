/*
 * server_bridge.mjs - seats an unmodified MCP server, a program that speaks JSON-RPC on its
 * standard streams, at a topic. One child serves everybody in the room.
 *
 * The child sees the envelope's id as JSON-RPC id and as progress token: unique in the room, so
 * two clients that both count from 0 cannot be mixed up; what they had sent themselves is put
 * back on the way out. Responses leave with the short kind `mcp/response:METHOD` and the request
 * envelope as correlation_id: deriving the rest is the router's work (protocol section 4).
 *
 * The child is initialised once, by the first client that asks, and its answer is kept for the
 * others. What the child itself asks (sampling, elicitation, roots) goes to that first client,
 * whose capabilities it was told.
 */
import { randomUUID } from 'node:crypto';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { disagreement, kindOf, parseKind } from './kinds.mjs';
import { Participant } from './participant.mjs';

const INVALID_REQUEST = -32600;

/** What a server needs to be allowed: to answer, to notify, and to ask its client. */
export const SERVER_GRANTS = ['mcp/response:*', 'mcp/request:notifications/*',
  'mcp/request:sampling/*', 'mcp/request:elicitation/*', 'mcp/request:roots/*'];

export class ServerBridge {
  onerror;
  participant;
  #child;
  #serving = new Map(); /* envelope id -> { from, id, method, token } of requests to the child */
  #asked = new Map(); /* envelope id -> JSON-RPC id of requests by the child */
  #initialized; /* promise of the child's answer to initialize */
  #owner; /* participant the child's own requests go to */
  #ready = false; /* notifications/initialized was passed on */

  /** `command` and `args` start the server; the rest is what Participant.join takes. */
  static async start(router, { command, args, capabilities = SERVER_GRANTS, ...seat }) {
    const bridge = new ServerBridge();
    const child = new StdioClientTransport({ command, args, stderr: 'pipe' });
    bridge.#child = child;
    child.onmessage = (message) => bridge.#fromChild(message);
    child.onerror = (error) => bridge.onerror?.(error);
    await child.start();
    bridge.participant = await Participant.join(router,
      { capabilities, query: { routing: 'directed', history: 0 }, ...seat });
    bridge.participant.listen((envelope) => bridge.#fromTopic(envelope));
    return bridge;
  }

  async close() {
    await this.participant.close();
    await this.#child.close();
  }

  #fromTopic(envelope) {
    if (envelope.kind === 'system/error') this.#refused(envelope);
    if (envelope.from === this.participant.id || !envelope.to?.includes(this.participant.id)) return;
    const { type } = parseKind(envelope.kind);
    if (type === 'mcp/request') this.#serve(envelope);
    else if (type === 'mcp/response') this.#passAnswer(envelope.correlation_id, envelope.payload);
  }

  #serve(envelope) {
    const { payload } = envelope;
    const wrong = disagreement(envelope);
    if (payload.id === undefined) {
      if (wrong === null) this.#notify(envelope);
      return;
    }
    const call = { from: envelope.from, id: payload.id, method: payload.method };
    this.#serving.set(envelope.id, call);
    if (wrong !== null) {
      call.method = parseKind(envelope.kind).method;
      this.#fromChild({ jsonrpc: '2.0', id: envelope.id,
        error: { code: INVALID_REQUEST, message: wrong } });
    } else if (payload.method === 'initialize') {
      this.#initialize(envelope);
    } else {
      /* One that is ending, as with its group, takes nothing any more. */
      this.#child.send({ ...payload, id: envelope.id, ...this.#ownToken(envelope, call) }).catch(() => {});
    }
  }

  #ownToken(envelope, call) {
    const { params } = envelope.payload;
    call.token = params?._meta?.progressToken;
    if (call.token === undefined) return {};
    return { params: { ...params, _meta: { ...params._meta, progressToken: envelope.id } } };
  }

  #initialize(envelope) {
    if (this.#initialized === undefined) {
      this.#owner = envelope.from;
      this.#initialized = new Promise((done) => {
        this.#serving.get(envelope.id).answered = done;
      });
      this.#child.send({ ...envelope.payload, id: envelope.id });
      return;
    }
    this.#initialized.then((answer) => this.#fromChild({ ...answer, id: envelope.id }));
  }

  #notify({ from, payload }) {
    if (payload.method === 'notifications/initialized') {
      if (this.#ready) return;
      this.#ready = true;
    }
    if (payload.method !== 'notifications/cancelled') {
      this.#child.send(payload);
      return;
    }
    for (const [id, call] of this.#serving) {
      if (call.from === from && call.id === payload.params?.requestId) {
        this.#child.send({ ...payload, params: { ...payload.params, requestId: id } });
      }
    }
  }

  #fromChild(message) {
    if (message.method === undefined) this.#passResult(message);
    else if (message.id !== undefined) this.#passRequest(message);
    else this.#passNotification(message);
  }

  #passResult(message) {
    const call = this.#serving.get(message.id);
    if (call === undefined) return;
    this.#serving.delete(message.id);
    call.answered?.(message);
    this.participant.send(`mcp/response:${call.method}`, { ...message, id: call.id },
      { to: [call.from], correlation_id: message.id });
  }

  #passRequest(message) {
    const id = randomUUID();
    this.#asked.set(id, message.id);
    this.participant.send(kindOf('mcp/request', message), message, { id, to: [this.#owner] });
  }

  #passNotification(message) {
    const token = message.params?.progressToken;
    const call = message.method === 'notifications/progress' && this.#serving.get(token);
    if (!call) {
      this.participant.send(kindOf('mcp/request', message), message);
      return;
    }
    const params = { ...message.params, progressToken: call.token };
    this.participant.send(kindOf('mcp/request', message), { ...message, params },
      { to: [call.from], correlation_id: token });
  }

  #passAnswer(envelopeId, payload) {
    if (!this.#asked.has(envelopeId)) return;
    this.#child.send({ ...payload, id: this.#asked.get(envelopeId) });
    this.#asked.delete(envelopeId);
  }

  #refused({ correlation_id: id, payload }) {
    this.#passAnswer(id, { jsonrpc: '2.0',
      error: { code: INVALID_REQUEST, message: payload.message, data: payload } });
    this.onerror?.(new Error(`${payload.error}: ${payload.message}`));
  }
}
