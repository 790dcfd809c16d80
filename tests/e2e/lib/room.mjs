/*
 * room.mjs - what most tests begin with: a topic of their own, participants that leave when the
 * test ends, a real MCP server with a seat in it and real MCP clients around it.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Participant } from './participant.mjs';
import { mcpxctl } from './program.mjs';
import { ServerBridge } from './server_bridge.mjs';
import { TopicTransport } from './topic_transport.mjs';

const require = createRequire(import.meta.url);

/** Path of an installed server program. */
export function serverProgram(name) {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  return join(dirname(manifest), 'dist', 'index.js');
}

export class Room {
  #test;

  /** `test` is the node:test context, or anything with `after(function)`. */
  constructor(test, router, name = `room-${randomUUID()}`) {
    this.#test = test;
    this.router = router;
    this.topic = name;
  }

  /** A plain participant; `more` as in Participant.join. */
  async join(id, capabilities, more = {}) {
    const participant = await Participant.join(this.router,
      { id, topic: this.topic, capabilities, ...more });
    this.#test.after(() => participant.close());
    return participant;
  }

  /** A real server program at the table. */
  async server(id, name, args, more = {}) {
    const bridge = await ServerBridge.start(this.router, {
      id, topic: this.topic, command: process.execPath, args: [serverProgram(name), ...args], ...more,
    });
    this.#test.after(() => bridge.close());
    return bridge;
  }

  /** server-everything, the reference server that has one of each. */
  everything(id = 'everything') {
    return this.server(id, 'server-everything', ['stdio']);
  }

  /**
   * An SDK client in session with participant `peer`. `prepare(client)` runs before it connects,
   * for handlers; `offers` are the client's own MCP capabilities.
   */
  async client(id, capabilities, { peer = 'everything', offers = {}, prepare, ...more } = {}) {
    const client = new Client({ name: id, version: '0.1.0' }, { capabilities: offers });
    const transport = new TopicTransport(this.router,
      { id, topic: this.topic, capabilities, peer, query: { routing: 'directed' }, ...more });
    prepare?.(client);
    client.errors = [];
    client.onerror = (error) => client.errors.push(error);
    await client.connect(transport);
    this.#test.after(() => client.close());
    return { client, transport, participant: transport.participant };
  }

  /** mcpxctl in this room, as `id` with these capabilities. */
  async ctl(id, capabilities, ...words) {
    return mcpxctl(words, { env: { MCPX_URL: this.router.url, MCPX_TOPIC: this.topic,
      MCPX_TOKEN: await this.router.token(id, this.topic, capabilities) } });
  }

  /**
   * Sends a marker everybody hears, and waits until each of `listeners` has heard it: what was
   * accepted before it has arrived by then, because a topic has one order.
   */
  async settle(speaker, ...listeners) {
    const id = speaker.send('chat', { text: 'marker' });
    await Promise.all([speaker, ...listeners].map((one) => one.untilId(id)));
    return id;
  }
}
