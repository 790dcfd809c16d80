/*
 * full_router.mjs - a router whose disk is full now and then: it stands before a real one, passes on
 * what both sides say, and answers some envelopes `unavailable`. Protocol: section 6.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import WebSocket, { WebSocketServer } from 'ws';

/* What the real router would say for it; asks for the shortest pause there is. */
function unavailable(id, outcome) {
  return JSON.stringify({ protocol: 'mcpx/v0.1', id: randomUUID(), ts: new Date().toISOString(),
    from: 'system:gateway', kind: 'system/error', correlation_id: id,
    payload: { error: 'unavailable', message: 'the message cannot be stored now',
      retry_after_ms: 1, outcome } });
}

export class FullRouter {
  /** How many envelopes were answered with each outcome. */
  answered = { refused: 0, unknown: 0 };
  /** Envelope id -> how often it came. */
  attempts = new Map();
  /** What each connection asked for, in order: the parameters of its URL. */
  asked = [];
  /** So many of the next connections are told that the topic cannot be entered now. */
  closesNext = 0;
  #judge;
  #real;
  #clients = new Set();

  /**
   * Starts one before `real`, a Router. `judge()` is called for each connection and gives
   * `(envelope, attempt)` -> "refused", "unknown", or undefined: it is passed on. What is "unknown" is
   * passed on as well, and its echo kept back. Ends with the test.
   */
  static async start(t, real, judge = () => () => undefined) {
    const full = new FullRouter();
    const server = createServer((request, response) => response.writeHead(404).end());
    const sockets = new WebSocketServer({ server });
    full.#judge = judge;
    full.#real = real;
    sockets.on('connection', (client, request) => full.#relay(client, request));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    full.url = `ws://127.0.0.1:${server.address().port}/ws`;
    t.after(() => {
      full.close(1001);
      server.closeAllConnections();
      server.close();
    });
    return full;
  }

  /** A token of the real one. */
  token(...who) {
    return this.#real.token(...who);
  }

  /** Ends all connections. */
  close(code, reason) {
    for (const client of this.#clients) client.close(code, reason);
  }

  #relay(client, request) {
    this.asked.push(new URL(request.url, this.url).searchParams);
    if (this.closesNext > 0) {
      this.closesNext -= 1;
      client.close(1013, 'unavailable');
      return;
    }
    const real = new WebSocket(new URL(request.url, this.#real.url),
      { headers: { authorization: request.headers.authorization } });
    const opened = once(real, 'open');
    const judge = this.#judge();
    const hidden = new Set();
    this.#clients.add(client);
    client.on('message', async (data) => {
      const text = data.toString('utf8');
      const answer = this.#answer(JSON.parse(text), judge, hidden);
      if (answer) client.send(answer);
      if (answer && !answer.includes('"unknown"')) return;
      await opened;
      real.send(text);
    });
    real.on('message', (data) => {
      const text = data.toString('utf8');
      const { id, kind } = JSON.parse(text);
      if (!kind.startsWith('system/') && hidden.delete(id)) return;
      client.send(text);
    });
    client.on('close', () => {
      this.#clients.delete(client);
      real.terminate();
    });
    real.on('close', (code) => client.close(code === 1006 ? 1011 : code));
    real.on('error', () => client.terminate());
  }

  #answer(envelope, judge, hidden) {
    const attempt = (this.attempts.get(envelope.id) ?? 0) + 1;
    this.attempts.set(envelope.id, attempt);
    const outcome = judge(envelope, attempt);
    if (!outcome) return undefined;
    this.answered[outcome] += 1;
    if (outcome === 'unknown') hidden.add(envelope.id);
    return unavailable(envelope.id, outcome);
  }
}

/**
 * A judge of a store that fails again and again: when it has taken `every` envelopes, it takes none,
 * until one that it did not take comes again. `outcomes` take turns.
 */
export function failsAfter(every, outcomes) {
  const refused = new Set();
  let taken = 0;
  let failures = 0;
  return ({ id }) => {
    if (taken < every) {
      taken += 1;
      return undefined;
    }
    if (refused.has(id)) {
      refused.clear();
      taken = 1;
      failures += 1;
      return undefined;
    }
    refused.add(id);
    return outcomes[failures % outcomes.length];
  };
}
