/*
 * participant.mjs - a plain participant: it joins, keeps every message exactly as it came, sends
 * what it is told to, and waits for what a test expects, by predicate and with a deadline.
 * It knows no MCP; wire.mjs builds on it.
 */
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';
import { DEADLINE_MS, inTime } from './router.mjs';
import { Watch } from './watch.mjs';

/** The router answered the upgrade with an HTTP refusal. */
export class Refused extends Error {
  constructor(status, headers, text) {
    super(`refused with ${status}: ${text}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
    try {
      this.problem = JSON.parse(text);
    } catch {
      this.problem = undefined;
    }
  }
}

export class Participant {
  /** Every message in order of arrival: `{ raw, envelope }`. */
  received = [];
  /** Envelope id -> kind, as handed to send(): the router may deliver a longer one. */
  sent = new Map();
  /** `{ code, reason }` once the connection is closed. */
  closed;
  #socket;
  #watch = new Watch();
  #listeners = [];

  /**
   * Connects and waits for the welcome.
   *
   * router        a Router
   * id, topic     who and where; `capabilities` go into a dev-mode token unless `token` is given
   * query         further query members: routing, history, after, ticket...
   * headers       further request headers; `authorization: false` connects without a token
   * url           of another address of the router; `tls` are options of node:tls for it
   * first         texts to send as soon as the connection stands, before the welcome
   */
  static async join(router, { id, topic, capabilities, token, query, headers, authorization,
    url: address = router.url, tls, first = [] } = {}) {
    const participant = new Participant();
    participant.topic = topic;
    const url = new URL(address);
    if (topic !== undefined) url.searchParams.set('topic', topic);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const bearer = authorization === false
      ? undefined : token ?? await router.token(id, topic, capabilities);
    participant.#socket = new WebSocket(url, {
      ...tls,
      headers: { ...(bearer && { authorization: `Bearer ${bearer}` }), ...headers },
    });
    participant.#socket.once('open', () => { for (const text of first) participant.sendText(text); });
    await inTime(participant.#welcomed(), () => `${id} was not welcomed`);
    return participant;
  }

  #welcomed() {
    const socket = this.#socket;
    return new Promise((done, fail) => {
      socket.on('message', (data, isBinary) => {
        const raw = data.toString('utf8');
        const envelope = JSON.parse(raw);
        this.received.push({ raw, envelope, isBinary });
        if (envelope.kind === 'system/welcome') {
          this.welcome = envelope;
          this.id = envelope.payload.you.id;
          done();
        }
        for (const listener of this.#listeners) listener(envelope);
        this.#watch.changed();
      });
      socket.on('unexpected-response', (request, response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          fail(new Refused(response.statusCode, response.headers, Buffer.concat(parts).toString()));
          request.destroy();
        });
      });
      socket.on('error', fail);
      socket.on('close', (code, reason) => {
        this.closed = { code, reason: reason.toString() };
        fail(new Error(`closed with ${code} before the welcome`));
        this.onclose?.(this.closed);
        this.#watch.changed();
      });
    });
  }

  /** Sends an envelope of `kind`; returns its id. `from` and `ts` are left to the router. */
  send(kind, payload = {}, { id = randomUUID(), ...rest } = {}) {
    this.sent.set(id, kind);
    this.sendText(JSON.stringify({ protocol: 'mcpx/v0.1', id, ...rest, kind, payload }));
    return id;
  }

  /**
   * Sends any text, or bytes as a binary message. `options` are those of the ws package: `fin:
   * false` for a fragment, `binary: false` for bytes that claim to be text.
   */
  sendText(text, options) {
    this.#socket.send(text, options);
  }

  /** Stops reading from the socket, as a program that hangs would; resume() reads on. */
  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  /** Waits until the router has pinged. */
  async untilPinged() {
    await inTime(new Promise((done) => { this.#socket.once('ping', done); }), () => `${this.id} was not pinged`);
  }

  /** Pings the router and waits for the pong. */
  async ping() {
    const pong = new Promise((done) => { this.#socket.once('pong', done); });
    this.#socket.ping();
    await inTime(pong, () => `${this.id} had no pong`);
  }

  /**
   * The first message from index `since` on for which `predicate(envelope)` holds, waiting for
   * it if need be.
   */
  async until(predicate, what, { since = 0, ms = DEADLINE_MS } = {}) {
    let next = since;
    const found = this.#watch.until(() => {
      while (next < this.received.length) {
        const message = this.received[next++];
        if (predicate(message.envelope)) return message;
      }
      if (this.closed) throw new Error(`${this.id} was closed (${this.closed.code}) before ${what}`);
      return undefined;
    });
    return inTime(found, () => `${this.id} waits for ${what}; it heard ${this.#summary(since)}`, ms);
  }

  /** The `{ code, reason }` of the close, waiting for it if need be. */
  untilClosed() {
    return inTime(this.#watch.until(() => this.closed), () => `${this.id} is still connected`);
  }

  #summary(since) {
    const heard = this.received.slice(since).slice(-20).map(({ envelope }) => envelope.payload?.message
      ? `${envelope.kind} (${envelope.payload.message})` : envelope.kind);
    return heard.length > 0 ? heard.join(', ') : 'nothing';
  }

  /** The message with this envelope id. */
  untilId(id) {
    return this.until((envelope) => envelope.id === id, `envelope ${id}`);
  }

  /** The `system/error` payload that answers the envelope `id`. */
  async untilRefused(id) {
    const { envelope } = await this.until(
      (e) => e.kind === 'system/error' && e.correlation_id === id, `the refusal of ${id}`);
    return envelope.payload;
  }

  /** Was it delivered? The participant is told in either case. */
  async passes(kind, to) {
    const id = this.send(kind, {}, to ? { to } : {});
    const { envelope } = await this.until((heard) => heard.id === id || heard.correlation_id === id,
      `what becomes of ${kind}`);
    return envelope.id === id;
  }

  /** The same of several kinds, one after the other: "+" where it was delivered, "-" where not. */
  async may(...kinds) {
    let signs = '';
    for (const kind of kinds) signs += await this.passes(kind) ? '+' : '-';
    return signs;
  }

  /** Everything heard from index `since` on, the router's own presence left out. */
  heard(since = 0) {
    return this.received.slice(since).map(({ envelope }) => envelope)
      .filter(({ kind }) => kind !== 'system/presence' && kind !== 'system/position');
  }

  /** What a client remembers to resume, as members of the query. Protocol: section 5. */
  place() {
    let place = {};
    for (const { envelope: { id, from, payload } } of [{ envelope: this.welcome }, ...this.received]) {
      if (from !== 'system:gateway') place.after = id;
      else if (payload.topic?.epoch) place = { epoch: payload.topic.epoch, serial: payload.topic.serial };
    }
    return place;
  }

  /**
   * Hands every envelope to `listener`: first those that came before it (the frame after the welcome
   * is often in the same packet), then each as it arrives.
   */
  listen(listener) {
    for (const { envelope } of this.received) listener(envelope);
    this.#listeners.push(listener);
  }

  /** Closes in good order. */
  async close() {
    if (this.closed) return;
    this.#socket.close(1000);
    await this.untilClosed();
  }

  /** Tears the connection down as a failing network would: no close frame, no goodbye. */
  async drop() {
    this.#socket.on('error', () => {});
    this.#socket.terminate();
    await this.untilClosed();
  }
}
