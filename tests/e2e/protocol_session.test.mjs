/*
 * What breaks for whom: who learns the protocol from the example at the beginning of its page, and
 * finds that the router says something else. The page is the test data: what it shows as sent is
 * sent, and what it shows as received has to come. Protocol: an example; section 5 (a place).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Participant } from './lib/participant.mjs';
import { Router } from './lib/router.mjs';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
const others = {};
const router = await Router.startFor({ after });
let agent;
let heard;
after(() => Promise.all([agent, ...Object.values(others)].map((one) => one?.close())));

/** JSON as the page prints it: "…" stands for anything that is left out. */
const messageOf = (text) => JSON.parse(text.replaceAll('[…]', '"…"')
  .replaceAll(/(?<=[{,])…(?=[,}])/g, '"…":0'));

/** What is sent (">") and received ("<") between two headings, a broken line put together again. */
function examples(heading, next) {
  const items = [];
  for (const line of page.slice(page.indexOf(heading), page.indexOf(next)).split('\n')) {
    const [, sign, text] = /^ {4}(?:([<>]) )?((?:\{|GET ).*)$/.exec(line) ?? [];
    if (text) items.push({ sign, text });
    else if (/^ {5,}\S/.test(line)) items.at(-1).text += line.trim();
  }
  return items.map((item) => ({ ...item,
    message: item.text.startsWith('{') ? messageOf(item.text) : undefined }));
}

/** Members whose value is another one in every run. */
const isNew = (name, envelope) => ['ts', 'epoch'].includes(name)
  || (name === 'id' && envelope.from === 'system:gateway');

function agrees(shown, got, where) {
  if (shown === '…') return;
  if (shown === null || typeof shown !== 'object') {
    assert.equal(got, shown, where);
    return;
  }
  assert.equal(typeof got, 'object', where);
  const names = Object.keys(shown).filter((name) => name !== '…');
  if (!('…' in shown)) assert.deepEqual(Object.keys(got).sort(), names.sort(), where);
  for (const name of names) {
    if (isNew(name, got)) assert.match(got[name], /^[0-9a-f-]{32,36}$|^\d{4}-.*Z$/, where);
    else agrees(shown[name], got[name], `${where}.${name}`);
  }
}

/** The next thing that the agent hears is what the page shows. */
async function hears(item) {
  const { envelope } = await agent.until(() => true, item.text, { since: heard });
  heard += 1;
  agrees(item.message, envelope, item.text.slice(0, 60));
}

async function connects({ text }, capabilities) {
  const query = Object.fromEntries(new URL(text.split(' ')[1], 'http://router').searchParams);
  if (query.epoch) query.epoch = agent.place().epoch;
  const { topic, ...rest } = query;
  agent = await Participant.join(router, { id: 'agent', topic, capabilities, query: rest });
  heard = 0;
}

/** Others send what the page shows of them, with the short kinds that it tells of. */
function speaks({ message: { from, ts, '…': cut, kind, payload, ...rest } }) {
  others[from].send(kind.split(':').slice(0, 2).join(':'), payload, rest);
}

test('what is sent comes back to its sender as the page shows it', async () => {
  const [sent, received] = examples('### One message', '### A session');
  others.first = await Participant.join(router, { id: 'alice', topic: 'one', capabilities: ['mcp/*'] });
  others.first.sendText(sent.text);
  const { envelope } = await others.first.untilId(sent.message.id);
  agrees(received.message, envelope, 'the echo');
});

test('the session of the page happens', async () => {
  const items = examples('### A session', '## 1. Envelope');
  const { you, participants } = items[1].message.payload;
  for (const { id, capabilities } of participants) {
    others[id] = await Participant.join(router, { id, topic: 'work', capabilities });
  }
  for (const item of items) {
    if (item.text.startsWith('GET')) await connects(item, you.capabilities);
    else if (item.sign === '>') agent.sendText(item.text);
    else {
      if (others[item.message.from]) speaks(item);
      await hears(item);
    }
  }
  assert.equal(heard, 6);
});

test('who comes back with what the page remembers is handed what it shows', async () => {
  const items = examples('### A place in the topic', '### What the router says');
  const { alice } = others;
  await agent.drop();
  await alice.until(({ payload }) => payload.event === 'leave', 'the leave of the agent');
  const missed = items.filter(({ message }) => message?.from === 'alice');
  missed.forEach(speaks);
  await alice.untilId(missed.at(-1).message.id);
  for (const item of items) {
    if (item.text.startsWith('GET')) await connects(item, agent.welcome.payload.you.capabilities);
    else await hears(item);
  }
  assert.equal(heard, 4);
});
