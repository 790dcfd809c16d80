/*
 * witness.mjs - readers and writers of one topic who do not trust the router: a Witness keeps every
 * envelope byte for byte and comes back to the place where it was; a Writer says numbered things,
 * each until it has come back. What they have is compared with what the topic's history is.
 */
import assert from 'node:assert/strict';
import { Participant } from './participant.mjs';
import { DEADLINE_MS, inTime } from './router.mjs';
import { Watch } from './watch.mjs';

export class Witness {
  /** Every envelope that was handed to it, as text, in order; and their ids. */
  seen = [];
  ids = new Set();
  refused = [];
  watch = new Watch();
  #seat;

  constructor(id, topic) {
    this.id = id;
    this.topic = topic;
  }

  get seat() {
    return this.#seat;
  }

  /** Comes in; from the second time on where it was, or the test fails. */
  async join(router) {
    const place = this.#seat?.place();
    const token = await router.token(this.id, this.topic, ['*']);
    const seat = await Participant.join(router, { id: this.id, topic: this.topic, token,
      query: { history: 0, ...place } });
    if (place) assert.equal(seat.welcome.payload.resumed, true, `${this.id} goes on in ${this.topic}`);
    this.#seat = seat;
    let next = 0;
    seat.listen(() => {
      for (; next < seat.received.length; next += 1) this.take(seat.received[next]);
      this.watch.changed();
    });
  }

  take({ raw, envelope }) {
    if (envelope.from !== 'system:gateway') {
      assert.ok(!this.ids.has(envelope.id), `${this.id} gets ${envelope.id} twice`);
      this.ids.add(envelope.id);
      this.seen.push(raw);
    } else if (envelope.kind === 'system/error') {
      this.refused.push(envelope);
    }
  }

  /** Waits for the envelope with this id. */
  until(id) {
    return inTime(this.watch.until(() => this.ids.has(id) || undefined),
      () => `${this.id} in ${this.topic} waits for ${id}, has ${this.seen.length}`);
  }

  leave() {
    return this.#seat.close();
  }
}

export class Writer extends Witness {
  /** Said and not heard yet: id -> text. */
  unheard = new Map();
  /** What it was told of messages that were not stored: `{ id, outcome }`. */
  answers = [];
  #said = 0;
  #window = 0;

  take(message) {
    super.take(message);
    const { envelope } = message;
    if (envelope.from === this.id) this.unheard.delete(envelope.id);
    if (envelope.kind === 'system/error') this.#answered(envelope);
    this.#fill();
  }

  /** Stored already: it was said before, and comes, or has come. */
  #answered({ correlation_id: id, payload }) {
    if (payload.error === 'duplicate_id') this.unheard.delete(id);
    else assert.equal(payload.error, 'unavailable', JSON.stringify(payload));
    this.answers.push({ id, ...payload });
  }

  #fill() {
    while (this.unheard.size < this.#window) this.say();
  }

  /** Says the next thing, `times` as long as the shortest; returns its id. */
  say(kind = 'chat', times = (this.#said + 1) % 40) {
    this.#said += 1;
    const id = `${this.topic}-${this.id}-${this.#said}`;
    this.unheard.set(id, JSON.stringify({ protocol: 'mcpx/v0.1', id, kind,
      payload: { n: this.#said, text: 'é"\\]}'.repeat(times) } }));
    if (!this.seat.closed) this.seat.sendText(this.unheard.get(id));
    return id;
  }

  /** Keeps so many on their way; 0 = says no more of itself. */
  talk(window) {
    this.#window = window;
    this.#fill();
  }

  /** Says again, in order, what it has not heard. */
  again() {
    for (const text of this.unheard.values()) this.seat.sendText(text);
  }

  /** Waits for what it is told of a message that was not stored. */
  untilAnswered(id) {
    return inTime(this.watch.until(() => this.answers.find((answer) => answer.id === id)),
      () => `${this.id} is not told of ${id}`);
  }

  untilHeard() {
    return inTime(this.watch.until(() => this.unheard.size === 0 || undefined),
      () => `${this.id} in ${this.topic} has not heard ${[...this.unheard.keys()].slice(0, 5)}`,
      DEADLINE_MS);
  }
}

export const writersOf = (people) => people.filter((one) => one instanceof Writer);

/** Writers say what they have not heard again, then a last thing, and everybody hears that. */
export async function untilAllHeard(people) {
  const writers = writersOf(people);
  for (const one of writers) one.talk(0);
  for (const one of writers) one.again();
  await Promise.all(writers.map((one) => one.untilHeard()));
  const last = new Map(writers.map((one) => [one.topic, one.say()]));
  await Promise.all(people.map((one) => one.until(last.get(one.topic))));
}

/** The elements of the JSON array that begins at `at`, each as it is written. */
export function elementsOf(text, at) {
  const elements = [];
  let depth = 0;
  let begin = 0;
  for (let i = at; ; i += 1) {
    const char = text[i];
    if (char === '"') {
      for (i += 1; text[i] !== '"'; i += 1) if (text[i] === '\\') i += 1;
    } else if (char === '{' || char === '[') {
      depth += 1;
      if (depth === 2) begin = i;
    } else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 1) elements.push(text.slice(begin, i + 1));
      if (depth === 0) return elements;
    }
  }
}

/** History of a topic behind the envelope with the id `after`, oldest first, byte for byte. */
export async function historyOf(router, topic, token, after) {
  const texts = [];
  let before;
  for (;;) {
    const query = new URLSearchParams({ limit: '1000', ...(after && { after }), ...(before && { before }) });
    const answer = await router.get(`/v0.1/topics/${topic}/history?${query}`, token);
    assert.equal(answer.status, 200, answer.text);
    const page = elementsOf(answer.text, answer.text.indexOf('[', answer.text.indexOf('"history"')));
    texts.push(...page);
    before = answer.json.next;
    if (before === undefined) return texts.reverse();
  }
}
