/*
 * The story: clients written for the original v0.1 gateway keep working, unchanged. This is one in
 * miniature, with their habits: it waits for a welcome with you.id and an iterable list of participants,
 * fills in every field itself, sends two pongs for each ping, joins capabilities as strings, and knows
 * nothing of history, derived kinds or explained errors. Protocol: sections 5, 7 and 8.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import WebSocket from 'ws';
import { Router, inTime } from './lib/router.mjs';

const router = await Router.startFor({ after });

class OldClient {
  peers = new Map();
  #pending = new Map();

  constructor(gateway, topic, token) {
    Object.assign(this, { gateway, topic, token });
  }

  connect() {
    return inTime(new Promise((done, fail) => {
      this.ws = new WebSocket(
        `${this.gateway.replace('http', 'ws')}/ws?topic=${encodeURIComponent(this.topic)}`,
        { headers: { Authorization: `Bearer ${this.token}` } });
      this.ws.on('ping', () => this.ws.pong());
      this.ws.on('message', (data) => {
        const envelope = JSON.parse(data.toString());
        if (envelope.protocol !== 'mcpx/v0.1') fail(new Error('Invalid protocol version'));
        else if (envelope.kind === 'system/welcome') {
          this.me = envelope.payload.you.id;
          for (const one of envelope.payload.participants) {
            this.peers.set(one.id, one.capabilities.join(', '));
          }
          done();
        } else if (!envelope.kind.startsWith('system/')) this.#mcp(envelope);
      });
      this.ws.on('error', fail);
    }), 'the old client was not welcomed');
  }

  #mcp({ kind, correlation_id: cause, from, id, payload }) {
    if (this.#pending.has(cause)) {
      this.#pending.get(cause)(payload);
      this.#pending.delete(cause);
    } else if (kind.startsWith('mcp/request') && payload.id !== undefined && from !== this.me) {
      const result = { content: [{ type: 'text', text: `${this.me} did ${payload.params.name}` }] };
      this.#put(`mcp/response:${payload.method}`, { jsonrpc: '2.0', id: payload.id, result },
        { to: [from], correlation_id: id });
    }
  }

  #put(kind, payload, more) {
    const id = randomUUID();
    this.ws.send(JSON.stringify({ protocol: 'mcpx/v0.1', id, ts: new Date().toISOString(),
      from: this.me, ...more, kind, payload }));
    return id;
  }

  call(peer, name) {
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
    const id = this.#put(`mcp/request:tools/call:${name}`, payload, { to: [peer] });
    return inTime(new Promise((done) => { this.#pending.set(id, done); }), `${name} unanswered`);
  }

  close() {
    this.ws.close();
  }
}

/** As the old command-line programs did it: no capabilities asked for, `.token` read. */
async function oldToken(path, participantId, topic) {
  const { status, json } = await router.request('POST', path, { body: { participantId, topic } });
  assert.equal(status, 200);
  assert.deepEqual(json.capabilities, ['mcp/*', 'chat']);
  return json.token;
}

test('old clients meet, call each other and get the answer of the one they asked', async (t) => {
  const topic = 'room:general';
  const worker = new OldClient(router.http, topic, await oldToken('/v0.1/auth/token', 'w', topic));
  await worker.connect();
  t.after(() => worker.close());
  const asker = new OldClient(router.http, topic, await oldToken('/v0/auth/token', 'a', topic));
  await asker.connect();
  t.after(() => asker.close());
  assert.equal(asker.me, 'a');
  assert.deepEqual([...asker.peers], [['w', 'mcp/*, chat']]);
  const answer = await asker.call('w', 'add');
  assert.equal(answer.result.content[0].text, 'w did add');
});

test('history means nothing to an old client, so no old call is carried out again', async (t) => {
  const topic = 'room:replay';
  const token = await oldToken('/v0.1/auth/token', 'w', topic);
  const first = new OldClient(router.http, topic, token);
  await first.connect();
  const asker = new OldClient(router.http, topic, await oldToken('/v0.1/auth/token', 'a', topic));
  await asker.connect();
  t.after(() => asker.close());
  await asker.call('w', 'fire-once');
  first.close();
  const second = new OldClient(router.http, topic, token);
  await second.connect();
  t.after(() => second.close());
  await asker.call('w', 'another');
  const { json } = await router.get(`/v0.1/topics/${encodeURIComponent(topic)}/history`, token);
  const answers = json.messages.filter(({ kind }) => kind.startsWith('mcp/response:'));
  assert.deepEqual(answers.map(({ kind }) => kind),
    ['mcp/response:tools/call:another', 'mcp/response:tools/call:fire-once']);
});
