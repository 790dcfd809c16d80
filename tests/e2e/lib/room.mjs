/*
 * room.mjs - what most tests begin with: a topic of their own, participants that leave when the
 * test ends, a real MCP server with a seat in it and others around it that speak MCP.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readyImport } from './import.mjs';
import { Participant } from './participant.mjs';
import { mcpxctl } from './program.mjs';
import { Seat } from './wire.mjs';

const require = createRequire(import.meta.url);

/** Path of an installed server program. */
export function serverProgram(name) {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  return join(dirname(manifest), 'dist', 'index.js');
}

/** The command line of a server of this folder: `name`.mjs. */
export const ownServer = (name, ...words) =>
  [process.execPath, fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), ...words];

/** The command line of a server of the matrix: of the official SDK's first generation, or the second. */
export const matrixServer = (generation) => ownServer(`../matrix/server${generation}`);

/** Options of a test with a server of the second generation. */
export const withModern = Number(process.versions.node.split('.')[0]) >= 20 ? {}
  : { skip: `SKIPPED: Node ${process.versions.node} is older than 20: NO server of 2026-07-28 is tested` };

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

  /** A real server program at the table, ready. */
  server(id, name, args) {
    return readyImport(this.#test, this.router, this.topic, id,
      [process.execPath, serverProgram(name), ...args]);
  }

  /** server-everything, the reference server that has one of each. */
  everything(id = 'everything') {
    return this.server(id, 'server-everything', ['stdio']);
  }

  /** A participant that speaks MCP with participant `peer`; `more` as in join. */
  async seat(id, capabilities, peer = 'everything', more = {}) {
    return new Seat(await this.join(id, capabilities, more), peer);
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
