#!/usr/bin/env node
// A two-minute tour (`make demo`): starts a router in dev mode on a free port, lets a tool server
// and an agent talk through it, has the agent refused, and shows what a late joiner sees.
// Needs Node.js 18 and nothing from npm; the WebSocket client below is the least that works and
// a model for nobody: use a library.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const program = process.argv[2] ?? 'build/bin/mcpx-router';
const say = (text) => process.stdout.write(`\n${text}\n`);
const show = (who, envelope) => {
  const { kind, from, payload } = envelope;
  process.stdout.write(`   ${who.padEnd(6)} sees  ${kind}  from ${from}  ${JSON.stringify(payload).slice(0, 150)}\n`);
};

/** Starts the router; resolves with its host:port once it says that it listens. */
function startRouter() {
  const child = spawn(program, ['--dev', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ready = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code} before it listened`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^listening ws:\/\/([^/]+)\/ws/.exec(line);
      if (match) resolve(match[1]);
    });
  });
  return { child, ready };
}

/** The parts of one server frame (unmasked, not fragmented), or null while it is incomplete. */
function takeFrame(buffer) {
  if (buffer.length < 2) return null;
  let length = buffer[1] & 127;
  let start = 2;
  if (length === 126) {
    if (buffer.length < 4) return null;
    length = buffer.readUInt16BE(2);
    start = 4;
  } else if (length === 127) {
    if (buffer.length < 10) return null;
    length = Number(buffer.readBigUInt64BE(2));
    start = 10;
  }
  if (buffer.length < start + length) return null;
  return { opcode: buffer[0] & 15, body: buffer.subarray(start, start + length), rest: buffer.subarray(start + length) };
}

/** One masked text frame. Long enough for a demo: up to 65535 bytes. */
function makeFrame(text) {
  const body = Buffer.from(text);
  const mask = randomBytes(4);
  const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length]) : Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255]);
  return Buffer.concat([head, mask, body.map((byte, i) => byte ^ mask[i % 4])]);
}

/** A participant: joins a topic, sends envelopes, waits for kinds. */
class Participant {
  constructor(id) {
    this.id = id;
    this.seen = [];
    this.waiting = [];
  }

  async join(address, topic, capabilities) {
    const answer = await fetch(`http://${address}/v0.1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ participantId: this.id, topic, capabilities }),
    });
    const { token } = await answer.json();
    const [host, port] = address.split(':');
    this.socket = connect(Number(port), host);
    this.socket.write(
      `GET /ws?topic=${encodeURIComponent(topic)} HTTP/1.1\r\nHost: ${address}\r\nAuthorization: Bearer ${token}\r\n` +
        `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    );
    this.listen();
    this.token = token;
    return this.next('system/welcome');
  }

  listen() {
    let buffer = Buffer.alloc(0);
    let upgraded = false;
    this.socket.on('data', (chunk) => {
      buffer = Buffer.concat([buffer, chunk]);
      if (!upgraded) {
        const end = buffer.indexOf('\r\n\r\n');
        if (end < 0) return;
        upgraded = true;
        buffer = buffer.subarray(end + 4);
      }
      for (let frame = takeFrame(buffer); frame; frame = takeFrame(buffer)) {
        buffer = frame.rest;
        if (frame.opcode === 1) this.receive(JSON.parse(frame.body));
      }
    });
  }

  receive(envelope) {
    this.seen.push(envelope);
    this.waiting = this.waiting.filter(({ kind, resolve }) => {
      if (!envelope.kind.startsWith(kind)) return true;
      resolve(envelope);
      return false;
    });
  }

  /** The next envelope whose kind begins so. */
  next(kind) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${this.id} saw no ${kind} within 5 s`)), 5000);
      this.waiting.push({ kind, resolve: (envelope) => (clearTimeout(late), resolve(envelope)) });
    });
  }

  send(kind, payload, extra = {}) {
    const envelope = { protocol: 'mcpx/v0.1', id: randomUUID(), kind, ...extra, payload };
    this.socket.write(makeFrame(JSON.stringify(envelope)));
    return envelope.id;
  }
}

async function tour(address) {
  const files = new Participant('files');
  const agent = new Participant('agent');

  say('1. A tool server and an agent join the topic "demo". The agent may read, and propose the rest.');
  await files.join(address, 'demo', ['mcp/response:*']);
  const joined = files.next('system/presence');
  show('agent', await agent.join(address, 'demo', ['mcp/request:tools/call:read_*', 'mcp/proposal:*', 'chat']));
  show('files', await joined);

  say('2. The agent calls a tool; everyone in the topic sees it.');
  const asked = files.next('mcp/request');
  const request = agent.send('mcp/request:tools/call:read_file', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read_file', arguments: { path: 'notes.txt' } } }, { to: ['files'] });
  show('files', await asked);

  say('3. The answer is sent with the short kind "mcp/response:tools/call"; the router completes it.');
  const answered = agent.next('mcp/response');
  files.send('mcp/response:tools/call', { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'buy milk' }] } }, { to: ['agent'], correlation_id: request });
  show('agent', await answered);

  say('4. The agent tries what it was not granted. Nobody else sees that; the agent is told why.');
  const refused = agent.next('system/error');
  agent.send('mcp/request:tools/call:delete_file', { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'delete_file' } });
  const { payload } = await refused;
  process.stdout.write(`   agent  is refused  ${JSON.stringify(payload, null, 2).replaceAll('\n', '\n   ')}\n`);

  say('5. An observer joins late and may send nothing. It gets the past as history.');
  const observer = new Participant('late');
  const past = observer.next('system/history');
  await observer.join(address, 'demo', []);
  for (const envelope of (await past).payload.envelopes) show('late', envelope);

  say('6. The same over HTTP.');
  const answer = await fetch(`http://${address}/v0.1/topics/demo/participants`, { headers: { authorization: `Bearer ${observer.token}` } });
  process.stdout.write(`   GET /v0.1/topics/demo/participants  ${await answer.text()}\n`);
  for (const one of [files, agent, observer]) one.socket.destroy();
}

const { child, ready } = startRouter();
try {
  await tour(await ready);
  say('That was all of it. `make run` starts a router that stays.');
} catch (error) {
  process.stderr.write(`demo: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  child.removeAllListeners('exit');
  child.kill('SIGTERM');
}
