/*
 * expose_http.mjs - `mcpx-bridge expose --http` for the length of a test, and the two ways to speak
 * to it: as a client would, and byte by byte.
 */
import { connect } from 'node:net';
import { exposeCommand } from './expose.mjs';
import { Program } from './program.mjs';
import { inTime } from './router.mjs';
import { Watch } from './watch.mjs';

/** The text of a request. `id` is JSON text. */
export function requestText(id, method, params) {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${
    params === undefined ? '' : `,"params":${JSON.stringify(params)}`}}`;
}

/** An expose that serves HTTP; stopped when the test ends. It is a Program with `url` and `port`. */
export async function exposeHttp(t, router, topic, id, { listen = '127.0.0.1:0', ...more } = {}) {
  const { args, env } = await exposeCommand(router, topic, id, more);
  const bridge = Program.start('mcpx-bridge', [...args, '--http', listen], { env, stdout: 'kept' });
  t.after(() => bridge.stop());
  [, bridge.url] = await bridge.says(/^listening (http:\/\/\S+\/mcp)\n/);
  bridge.port = Number(new URL(bridge.url).port);
  return bridge;
}

/** POSTs a text: `{ status, text, headers }`. */
export async function post(bridge, text, { headers = {}, signal } = {}) {
  const response = await inTime(fetch(bridge.url,
    { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers }, signal }),
  () => `${text.slice(0, 200)} was not answered\n${bridge.log}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** A socket to it, on which bytes can be said, and everything that comes back is kept. */
export class RawClient {
  heard = '';
  #socket;
  #watch = new Watch();

  static async open(bridge, from) {
    const client = new RawClient();
    client.#socket = connect({ host: '127.0.0.1', port: bridge.port, localAddress: from });
    client.#socket.setEncoding('latin1').on('data', (text) => {
      client.heard += text;
      client.#watch.changed();
    });
    client.#socket.on('error', () => {});
    client.closed = new Promise((done) => {
      client.#socket.on('close', () => { client.isClosed = true; client.#watch.changed(); done(); });
    });
    await inTime(new Promise((done, fail) => {
      client.#socket.once('connect', done).once('error', fail);
    }), 'no connection');
    return client;
  }

  say(bytes) {
    return new Promise((done) => { this.#socket.write(bytes, 'latin1', done); });
  }

  post(body) {
    this.say('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
      + `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  close() {
    this.#socket.destroy();
  }

  /** Waits until what came matches; returns the match. */
  async until(pattern) {
    const found = this.#watch.until(() => {
      const match = pattern.exec(this.heard);
      if (!match && this.isClosed) throw new Error(`closed before ${pattern}: ${this.heard}`);
      return match ?? undefined;
    });
    return inTime(found, () => `${pattern} did not come: ${this.heard}`);
  }

  /** The status of the answer, once the server has closed the connection; undefined without one. */
  async statusAtEnd(what) {
    await inTime(this.closed, () => `not closed after ${what}: ${this.heard}`);
    const status = /^HTTP\/1\.1 (\d+)/.exec(this.heard)?.[1];
    return status && Number(status);
  }
}
