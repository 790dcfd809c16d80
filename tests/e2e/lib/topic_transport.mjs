/*
 * topic_transport.mjs - lets an unmodified MCP client (the official SDK's Client) talk to one
 * participant of a topic as if it were alone with it. An MCP `Transport` on one side, envelopes
 * on the other.
 *
 * Who answers whom is a matter of envelope ids, never of JSON-RPC ids: each client counts its
 * own from 0, so in a shared room they collide. A JSON-RPC id is therefore kept here, beside the
 * id of the envelope that carries it, and a response counts only when its correlation_id names
 * such an envelope. Requests in the other direction reach the SDK under the envelope's id.
 */
import { randomUUID } from 'node:crypto';
import { contextOf, disagreement, kindOf, parseKind } from './kinds.mjs';
import { Participant } from './participant.mjs';

/** JSON-RPC code of a request that the router refused; `data` is the whole explanation. */
export const REFUSED = -32001;

export class TopicTransport {
  onmessage;
  onclose;
  onerror;
  /** The underlying participant, from start() on: tests look at the raw traffic through it. */
  participant;
  #router;
  #seat;
  #peer;
  #asked = new Map(); /* envelope id -> { id, method, context } of requests we sent */
  #owed = new Map(); /* envelope id -> method of requests we have to answer */
  #turn = Promise.resolve();

  /** `peer` is the participant id of the server; `seat` is what Participant.join takes. */
  constructor(router, { peer, ...seat }) {
    this.#router = router;
    this.#peer = peer;
    this.#seat = seat;
  }

  async start() {
    this.participant = await Participant.join(this.#router, this.#seat);
    this.participant.listen((envelope) => this.#receive(envelope));
    this.participant.onclose = () => this.onclose?.();
  }

  async send(message) {
    if (message.method === undefined) {
      this.#answer(message);
      return;
    }
    const id = randomUUID();
    const extra = { id, to: [this.#peer] };
    if (message.id !== undefined) {
      const { method, params } = message;
      this.#asked.set(id, { id: message.id, method, context: contextOf(method, params) });
    } else if (message.method === 'notifications/cancelled') {
      const cancelled = this.#forget(message.params?.requestId);
      if (cancelled) extra.correlation_id = cancelled;
    }
    this.participant.send(kindOf('mcp/request', message), message, extra);
  }

  #answer(message) {
    const method = this.#owed.get(message.id);
    if (method === undefined) throw new Error(`nobody asked for response ${message.id}`);
    this.#owed.delete(message.id);
    this.participant.send(`mcp/response:${method}`, message,
      { to: [this.#peer], correlation_id: message.id });
  }

  #forget(rpcId) {
    for (const [envelopeId, call] of this.#asked) {
      if (call.id === rpcId) {
        this.#asked.delete(envelopeId);
        return envelopeId;
      }
    }
    return undefined;
  }

  #receive(envelope) {
    if (envelope.kind === 'system/error') this.#refused(envelope);
    if (envelope.from !== this.#peer || envelope.from === this.participant.id) return;
    if (envelope.to?.length > 0 && !envelope.to.includes(this.participant.id)) return;
    const { type } = parseKind(envelope.kind);
    if (type === 'mcp/response') this.#response(envelope);
    else if (type === 'mcp/request') this.#request(envelope);
  }

  #refused(envelope) {
    const { correlation_id: id, payload } = envelope;
    const call = this.#asked.get(id);
    if (call === undefined) {
      this.onerror?.(new Error(`${payload.error}: ${payload.message}`));
      return;
    }
    this.#asked.delete(id);
    this.#deliver({
      jsonrpc: '2.0',
      id: call.id,
      error: { code: REFUSED, message: payload.message, data: payload },
    });
  }

  #response(envelope) {
    const call = this.#asked.get(envelope.correlation_id);
    if (call === undefined) return; /* somebody else's, or cancelled */
    const { method, context } = parseKind(envelope.kind);
    const { payload } = envelope;
    const fits = method === call.method && (context === undefined || context === call.context)
      && payload.method === undefined && ('result' in payload) !== ('error' in payload);
    if (!fits) {
      this.onerror?.(new Error(`${envelope.kind} does not answer ${call.method}`));
      return;
    }
    this.#asked.delete(envelope.correlation_id);
    this.#deliver({ ...payload, id: call.id });
  }

  #request(envelope) {
    const wrong = disagreement(envelope);
    if (wrong !== null) {
      this.onerror?.(new Error(`${envelope.id}: ${wrong}`));
      return;
    }
    const { payload } = envelope;
    if (payload.id === undefined) {
      this.#deliver(payload);
      return;
    }
    this.#owed.set(envelope.id, payload.method);
    this.#deliver({ ...payload, id: envelope.id });
  }

  /*
   * One message per turn of the event loop: the SDK hands a notification to its handler a
   * microtask late but a response at once, so a last progress that shares a packet with the
   * response would find its handler gone.
   */
  #deliver(message) {
    this.#turn = this.#turn.then(() => new Promise(setImmediate))
      .then(() => this.onmessage?.(message));
  }

  async close() {
    await this.participant?.close();
  }
}
