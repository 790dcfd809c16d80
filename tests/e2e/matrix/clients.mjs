/*
 * clients.mjs - SDK clients of both generations behind one thin interface, for things.mjs. Each is
 * pinned to its time: the first to 2025-11-25, the second to 2026-07-28.
 */
import assert from 'node:assert/strict';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Transport2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema }
  from '@modelcontextprotocol/sdk/types.js';
import { eventually, inTime } from '../lib/router.mjs';
import { Watch } from '../lib/watch.mjs';
import { tap, UI } from './offer.mjs';

const OFFERS = { elicitation: { form: {} }, sampling: {}, roots: {}, extensions: UI };
const META = 'io.modelcontextprotocol/';
const VERSION = '2026-07-28';
const INFO = { name: 'matrix', version: '1' };

class Client {
  /** The SDK's client. */
  sdk;
  #transport;
  #prefix;
  #watch = new Watch();
  #raw = new Map();

  /** `command` as transports take it; `prefix` is how the server's names begin there. */
  static async connect(t, command, prefix = '') {
    const client = new this();
    client.#prefix = prefix;
    client.begin();
    for (const asked of this.ASKED) client.sdk.setRequestHandler(asked, (request) => client.#answer(request));
    client.sdk.fallbackNotificationHandler = async (notice) => {
      client.notices.push(notice);
      client.#watch.changed();
    };
    client.#transport = new this.Transport({ ...command, stderr: 'ignore' });
    await inTime(client.sdk.connect(client.#transport), 'no session');
    t.after(() => client.sdk.close());
    tap(client.#transport, ({ id, method, ...answer }) => !method && client.#raw.get(id)?.(answer));
    await eventually(async () => JSON.stringify(await client.list()).includes(`"${prefix}echo"`), 'no tools');
    return client;
  }

  /** From now on it is told `asked` and `notices`, and elicitations have this `action`, calls this `meta`. */
  begin() {
    Object.assign(this, { asked: [], notices: [], action: 'accept', meta: {} });
  }

  #answer({ method, params: { _meta, ...params } = {} }) {
    this.asked.push([method, params]);
    switch (method) {
      case 'elicitation/create':
        return { action: this.action,
          ...(this.action === 'accept' && { content: { name: `Ada ${this.asked.length}` } }) };
      case 'sampling/createMessage':
        return { role: 'assistant', model: 'none', content: { type: 'text', text: 'forty-two' } };
      default: return { roots: [{ uri: 'file:///srv' }] };
    }
  }

  /** Waits for a notification whose parameters are so. */
  told(method, look = () => true) {
    return this.#watch.until(() =>
      this.notices.find((notice) => notice.method === `notifications/${method}` && look(notice.params)));
  }

  async list() {
    return Object.assign({}, ...await Promise.all(
      [this.sdk.listTools(), this.sdk.listPrompts(), this.sdk.listResources()]));
  }

  /** What the server calls `name` is called here. */
  shown(name) {
    return this.#prefix + name;
  }

  params(name, args = {}) {
    return { name: this.shown(name), arguments: args, _meta: { ...this.meta } };
  }

  /** Sends a request past the SDK; its result, or an error with its code. */
  async raw(method, params) {
    const id = `raw-${this.#raw.size}`;
    const answered = new Promise((done) => {
      this.#raw.set(id, (answer) => done(answer) ?? true);
    });
    this.#transport.send({ jsonrpc: '2.0', id, method,
      params: { ...params, _meta: { ...params._meta, ...this.constructor.ENVELOPE } } });
    const { result, error } = await answered;
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  }

  /** Calls for a task: `{ status, get(), end(), result(), cancel() }`; without `status` there is none. */
  async task(name) {
    const made = await this.raw('tools/call', { ...this.params(name), ...this.constructor.FOR_A_TASK });
    const { taskId, status } = made.task ?? made;
    const about = (method) => this.raw(`tasks/${method}`, { taskId });
    const get = async () => (await about('get')).status;
    return {
      status,
      get,
      end: () => eventually(async () => [await get()].find((now) => now !== 'working'), 'the task goes on'),
      result: async () => status ? (await about('get')).result ?? about('result') : made,
      cancel: () => about('cancel'),
    };
  }
}

export class First extends Client {
  static Transport = Transport1;
  static ASKED = [ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema];
  static FOR_A_TASK = { task: { ttl: 60000 } };
  sdk = new Client1(INFO, { capabilities: OFFERS });

  call(name, args, options) {
    return this.sdk.callTool(this.params(name, args), undefined, options);
  }

  level(level) {
    return this.sdk.setLoggingLevel(level);
  }

  /** Wants to hear of a resource, or of changes of the tools; returns what ends that. */
  async listen(uri) {
    if (uri) await this.sdk.subscribeResource({ uri });
    return () => uri && this.sdk.unsubscribeResource({ uri });
  }

  /** The result of a tool that may insist on a task, as this SDK calls it. */
  async insist(name) {
    let last;
    await this.list();
    for await (last of this.sdk.experimental.tasks.callToolStream(this.params(name)));
    if (last.error) throw last.error;
    return last.result;
  }
}

export class Second extends Client {
  static Transport = Transport2;
  static ASKED = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
  static ENVELOPE = { [`${META}protocolVersion`]: VERSION, [`${META}clientInfo`]: INFO,
    [`${META}clientCapabilities`]: { ...OFFERS, extensions: { ...UI, [`${META}tasks`]: {} } } };
  sdk = new Client2(INFO, { versionNegotiation: { mode: { pin: VERSION } },
    capabilities: Second.ENVELOPE[`${META}clientCapabilities`] });

  call(name, args, options) {
    return this.sdk.callTool(this.params(name, args), options);
  }

  level(level) {
    this.meta[`${META}logLevel`] = level;
  }

  async listen(uri) {
    const filter = uri ? { resourceSubscriptions: [uri] } : { toolsListChanged: true };
    const heard = await this.sdk.listen({ ...filter, promptsListChanged: false });
    assert.deepEqual(heard.honoredFilter, filter);
    return () => heard.close();
  }

  /* This SDK has no word for it: polls until the task ends. */
  async insist(name) {
    const task = await this.task(name);
    if (task.status) await task.end();
    return task.result();
  }
}
