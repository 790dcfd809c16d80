/*
 * search.mjs - many short texts in many long ones. A number is computed for each run of sixteen
 * bytes, from that of the run before it; only where a text that is looked for ends in such a run are
 * the bytes compared. So it does not matter how many texts there are.
 */

/** Bytes that a text must have at least. */
export const RUN = 16;

const BASE = 0x01000193;
const FILTER_BITS = 22;

/* What a byte counts for that leaves the run. */
const LEAVING = (() => {
  let power = 1;
  for (let i = 0; i < RUN; i += 1) power = Math.imul(power, BASE);
  return Int32Array.from({ length: 256 }, (_, byte) => Math.imul(power, byte));
})();

export class Search {
  #filter = new Uint8Array(1 << FILTER_BITS);
  #texts = new Map();

  /** `about` is given with each place where the text is found. */
  add(text, about) {
    const bytes = Buffer.from(text);
    let sum = 0;
    for (const byte of bytes.subarray(bytes.length - RUN)) sum = (Math.imul(sum, BASE) + byte) | 0;
    this.#filter[sum >>> (32 - FILTER_BITS)] = 1;
    if (!this.#texts.has(sum)) this.#texts.set(sum, []);
    this.#texts.get(sum).push({ bytes, about });
  }

  /** Each `{ start, end, about }`, in order of ends. */
  * in(bytes) {
    const filter = this.#filter;
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      sum = (Math.imul(sum, BASE) + bytes[at] - (at < RUN ? 0 : LEAVING[bytes[at - RUN]])) | 0;
      if (filter[sum >>> (32 - FILTER_BITS)] && at + 1 >= RUN) yield* this.#ending(bytes, at + 1, sum);
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
