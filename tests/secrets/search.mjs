/*
 * search.mjs - many short texts in many long ones. A number is computed for each run of so many
 * bytes, from that of the run before it; only where a text that is looked for ends in such a run are
 * the bytes compared. So it does not matter how many texts there are.
 */

const BASE = 0x01000193;
const FILTER_BITS = 22;

/* What a byte counts for that leaves a run of `length` bytes. */
function leaving(length) {
  let power = 1;
  for (let i = 0; i < length; i += 1) power = Math.imul(power, BASE);
  return Int32Array.from({ length: 256 }, (_, byte) => Math.imul(power, byte));
}

export class Search {
  #filter = new Uint8Array(1 << FILTER_BITS);
  #texts = new Map();
  #run;
  #leaving;

  /** Texts of at least `run` bytes. */
  constructor(run) {
    this.#run = run;
    this.#leaving = leaving(run);
  }

  /** `about` is given with each place where the text is found. */
  add(text, about) {
    const bytes = Buffer.from(text);
    let sum = 0;
    for (const byte of bytes.subarray(bytes.length - this.#run)) sum = (Math.imul(sum, BASE) + byte) | 0;
    this.#filter[sum >>> (32 - FILTER_BITS)] = 1;
    if (!this.#texts.has(sum)) this.#texts.set(sum, []);
    this.#texts.get(sum).push({ bytes, about });
  }

  /** Each `{ start, end, about }`, in order of ends. */
  * in(bytes) {
    const filter = this.#filter, gone = this.#leaving, run = this.#run;
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      sum = (Math.imul(sum, BASE) + bytes[at] - (at < run ? 0 : gone[bytes[at - run]])) | 0;
      if (filter[sum >>> (32 - FILTER_BITS)] && at + 1 >= run) yield* this.#ending(bytes, at + 1, sum);
    }
  }

  * #ending(bytes, end, sum) {
    for (const text of this.#texts.get(sum) ?? []) {
      const start = end - text.bytes.length;
      if (start >= 0 && text.bytes.equals(bytes.subarray(start, end))) {
        yield { start, end, about: text.about };
      }
    }
  }
}
