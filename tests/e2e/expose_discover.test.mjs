/*
 * The story: a model is shown three tools in place of all of them. What it does by these must be what
 * it would have done by the tools themselves: for clients and servers of both times, by HTTP, and
 * whatever the operator's settings say about a tool.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exposeCommand } from './lib/expose.mjs';
import { exposeHttp, post, requestText } from './lib/expose_http.mjs';
import { startImport } from './lib/import.mjs';
import { matrixServer, withModern } from './lib/room.mjs';
import { inTime, Router } from './lib/router.mjs';
import { First, Second } from './matrix/clients.mjs';
import { THINGS } from './matrix/things.mjs';

const router = await Router.startFor({ after });
const LOOKED_AT = ['call', 'structured result', 'progress', 'cancel', 'elicitation declined', 'asked twice',
  'sampling', 'task', 'task only', 'unknown tool'];

/** The same client, which finds and calls its tools. */
const finding = (Client) => class extends Client {
  async list() {
    return (await this.sdk.callTool({ name: 'room__find_tools', arguments: { query: 'echo' } })).structuredContent;
  }

  params(...call) {
    const { name, arguments: own, ...more } = super.params(...call);
    return { ...more, name: 'room__call_tool', arguments: { name, arguments: own } };
  }
};

async function observed(t, topic, Client, server, options) {
  const bridge = await startImport(t, router, topic, 'shop', matrixServer(server));
  await bridge.until(/is ready/);
  const client = await Client.connect(t, await exposeCommand(router, topic, 'desk', { options }), 'shop__');
  const seen = {};
  for (const thing of LOOKED_AT) {
    const end = new AbortController();
    client.begin();
    seen[thing] = await inTime(THINGS[thing](client, end.signal), `${topic}: ${thing}`)
      .catch(({ code, message }) => code ?? message);
    end.abort();
  }
  return seen;
}

for (const [name, Client, server] of [['1 1', First, 1], ['1 2', First, 2], ['2 1', Second, 1], ['2 2', Second, 2]]) {
  test(`a client and a server of ${name} meet as by the tools themselves`, withModern, async (t) => {
    const [own, found] = await Promise.all([observed(t, `own ${name}`, Client, server, []),
      observed(t, `found ${name}`, finding(Client), server, ['--discover'])]);
    assert.deepEqual(found, own);
  });
}

test('by HTTP a call is checked as that of the tool', async (t) => {
  await (await startImport(t, router, 'checked', 'shop', matrixServer(1))).until(/is ready/);
  const bridge = await exposeHttp(t, router, 'checked', 'desk', { options: ['--discover', '--contracts', '{}'] });
  const use = async (name, args) => JSON.parse(
    (await post(bridge, requestText(1, 'tools/call', { name, arguments: args }))).text);
  const [{ name }] = (await use('room__find_tools', { query: 'sum of numbers' })).result.structuredContent.tools;
  assert.deepEqual((await use('room__describe_tool', { name })).result.structuredContent.name, 'shop__sum');
  for (const args of [{ a: 1, b: 'two' }, { a: 1, b: 2 }]) {
    assert.deepEqual(await use('room__call_tool', { name: 'shop__sum', arguments: args }), await use('shop__sum', args));
  }
});
