/*
 * The story: the router is killed in the middle of everything, and its disk is slow, broken or
 * false. Whoever has received something finds it in history, in its order, byte for byte; whoever
 * comes back goes on where it was; and the audit has a line for each message.
 *
 * MCPX_E2E_KILLS (10) is how often it is killed.
 */
import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Disk } from './lib/disk.mjs';
import { ends } from './lib/program.mjs';
import { historyOf, untilAllHeard, Witness, Writer, writersOf } from './lib/witness.mjs';
import { pause, sha256 } from './lib/router.mjs';

const KILLS = Number(process.env.MCPX_E2E_KILLS ?? 10);
const TOPICS = ['ann', 'bob', 'cid'];

/** Everybody in every topic: `readers` of one, `writers` of one. */
function crowd(writers, readers) {
  return TOPICS.flatMap((topic) => [
    ...Array.from({ length: writers }, (_, i) => new Writer(`w${i}`, topic)),
    ...Array.from({ length: readers }, (_, i) => new Witness(`r${i}`, topic))]);
}

/** Each writer's messages stand in the order in which it said them, none is missing, none twice. */
function assertWritten(texts, counts) {
  for (const text of texts) {
    const { from, payload: { n } } = JSON.parse(text);
    assert.equal(n, (counts.get(from) ?? 0) + 1, `${from}: ${n} behind ${counts.get(from)}`);
    counts.set(from, n);
  }
}

/** A topic as it was read so far: what is new in its history is what everybody has got since. */
class Book {
  length = 0;
  #last;
  #counts = new Map();

  constructor(topic) {
    this.topic = topic;
  }

  async compare(router, people) {
    const token = await router.token('auditor', this.topic, ['*']);
    const texts = await historyOf(router, this.topic, token, this.#last);
    assertWritten(texts, this.#counts);
    for (const one of people.filter(({ topic }) => topic === this.topic)) {
      assert.deepEqual(one.seen.slice(this.length), texts, `${one.id} of ${this.topic}`);
    }
    this.length += texts.length;
    this.#last = JSON.parse(texts.at(-1)).id;
    return texts;
  }
}

/** The lines of an audit, read on from where it was read last. */
class Lines {
  #places = new Map();
  #sums = new Set();

  constructor(disk) {
    this.disk = disk;
  }

  /** What a file has got since. */
  #news(file) {
    const place = this.#places.get(file) ?? 0;
    const fd = openSync(join(this.disk.auditFolder, file));
    const bytes = Buffer.alloc(fstatSync(fd).size - place);
    readSync(fd, bytes, 0, bytes.length, place);
    closeSync(fd);
    const end = bytes.lastIndexOf(10) + 1; /* a line that is being written is for the next time */
    this.#places.set(file, place + end);
    return bytes.subarray(0, end).toString().split('\n').filter(Boolean);
  }

  /** They verify, and of each of these `[topic, text]` one says that it was allowed. */
  async assertHold(texts) {
    await ends(this.disk.verifyAudit());
    for (const file of readdirSync(this.disk.auditFolder).filter((name) => name.endsWith('.jsonl'))) {
      for (const line of this.#news(file)) {
        const { what, topic, id, sha256 } = JSON.parse(line);
        if (what === 'allow') this.#sums.add(`${topic} ${id} ${sha256}`);
      }
    }
    for (const [topic, text] of texts) {
      const sum = sha256(text);
      assert.ok(this.#sums.has(`${topic} ${JSON.parse(text).id} ${sum}`), `no line for ${text}`);
    }
    this.#sums.clear();
  }
}

test(`killed ${KILLS} times: what was received is there, and everybody goes on`, async (t) => {
  const disk = await Disk.makeFor(t, { audit: true });
  const people = crowd(4, 8);
  const books = TOPICS.map((topic) => new Book(topic));
  const lines = new Lines(disk);
  let router = await disk.start();
  await Promise.all(people.map((one) => one.join(router)));
  for (let round = 0; round < KILLS; round += 1) {
    for (const one of writersOf(people)) one.talk(8);
    await pause(50 + Math.random() * 300);
    await router.kill();
    for (const one of writersOf(people)) one.talk(0); /* what it has said already comes first */
    router = await disk.start();
    await Promise.all(people.map((one) => one.join(router)));
    await untilAllHeard(people);
    const news = [];
    for (const book of books) {
      for (const text of await book.compare(router, people)) news.push([book.topic, text]);
    }
    await lines.assertHold(news);
  }
  t.diagnostic(`${books.map(({ length }) => length)} messages`);
  await Promise.all(people.map((one) => one.leave()));
});

/* One who talks and one who listens, on a slow disk. */
async function pairOf(t, options) {
  const disk = await Disk.makeFor(t, options);
  const router = await disk.start({ isSlow: true });
  const people = [new Writer('w0', 'ann'), new Witness('r0', 'ann')];
  await Promise.all(people.map((one) => one.join(router)));
  await untilAllHeard(people);
  return [disk, people, router];
}

test('a sync that fails: nobody gets the message, its sender knows that it may be there', async (t) => {
  const [disk, people, slow] = await pairOf(t);
  let router = slow;
  const [writer, reader] = people;
  assert.equal((await router.get('/readyz')).status, 200);
  const before = reader.seen.length;
  disk.becomes('fail');
  assert.equal((await writer.untilAnswered(writer.say())).outcome, 'unknown');
  disk.becomes('ok'); /* too late: what the memory of the system holds is not to be trusted */
  await writer.untilAnswered(writer.say());
  assert.equal((await router.get('/readyz')).status, 503);
  await ends(disk.ctl('status', '--url', router.url), 1, /^health +healthy, not ready: store failed$/m);
  const told = await disk.ctl('status', '--json', '--url', router.url);
  assert.deepEqual(JSON.parse(told.stdout).reasons, ['store failed']);
  assert.equal(reader.seen.length, before);
  assert.equal(writer.seat.closed, undefined, 'nobody is thrown out');
  await router.kill();
  router = await disk.start();
  assert.equal((await router.get('/readyz')).status, 200);
  await Promise.all(people.map((one) => one.join(router)));
  await untilAllHeard(people);
  await new Book('ann').compare(router, people);
  await Promise.all(people.map((one) => one.leave()));
});

test('a sync that hangs holds back what was said, and nobody who reads', async (t) => {
  const [disk, people, router] = await pairOf(t, { store: { timeout_ms: 60000 } });
  const [writer, reader] = people;
  const before = reader.seen.length;
  disk.becomes('hang');
  const id = writer.say();
  await writer.seat.ping();
  await reader.seat.ping();
  const texts = await historyOf(router, 'ann', await router.token('auditor', 'ann', ['*']));
  assert.equal(texts.length, before, 'it is not stored, so nobody reads it');
  assert.equal(reader.seen.length, before);
  disk.becomes('ok');
  await Promise.all(people.map((one) => one.until(id)));
  await new Book('ann').compare(router, people);
  await Promise.all(people.map((one) => one.leave()));
});

test('a disk that lies is found out by nobody, until its machine loses power', async (t) => {
  const disk = await Disk.makeFor(t);
  let router = await disk.start({ isSlow: true });
  const people = crowd(1, 1);
  disk.becomes('lie');
  await Promise.all(people.map((one) => one.join(router)));
  for (const one of writersOf(people)) one.talk(8);
  await pause(200);
  await router.kill();
  for (const one of writersOf(people)) one.talk(0);
  router = await disk.start();
  await Promise.all(people.map((one) => one.join(router)));
  await untilAllHeard(people);
  for (const topic of TOPICS) await new Book(topic).compare(router, people);
  await Promise.all(people.map((one) => one.leave()));
});
