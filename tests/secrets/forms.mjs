/*
 * forms.mjs - how a secret may be written: as it is, or in one of the encodings that logs, queries,
 * documents and databases have.
 */
import { RUN } from './search.mjs';

/* Who has all of a signed token but its signature has nothing: the rest is often printed. */
const SIGNED = /^[\w-]+\.[\w-]+\.([\w-]+)$/;

/*
 * Base64 of a longer text that holds `bytes`: what is sure of it, for each of the three places at
 * which they may begin.
 */
function* base64Of(bytes, encoding) {
  for (let before = 0; before < 3; before += 1) {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(encoding).replace(/=+$/, '');
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    yield text.slice(Math.ceil((before * 8) / 6), whole);
  }
}

/** Each `[form, text]` of a secret, which is a Buffer; none when it is too short to be looked for. */
export function* formsOf(secret) {
  const signature = SIGNED.exec(secret.toString())?.[1];
  const bytes = signature === undefined ? secret : Buffer.from(signature);
  const text = bytes.toString();
  if (bytes.length < RUN) return;
  const forms = [['as it is', bytes], ['in JSON', JSON.stringify(text).slice(1, -1)],
    ['percent-encoded', encodeURIComponent(text)], ['in hexadecimal', bytes.toString('hex')],
    ['in hexadecimal', bytes.toString('hex').toUpperCase()]];
  for (const encoding of ['base64', 'base64url']) {
    for (const found of base64Of(bytes, encoding)) forms.push([`in ${encoding}`, found]);
  }
  const seen = new Set();
  for (const [form, found] of forms) {
    const key = found.toString();
    if (!seen.has(key)) yield [form, found];
    seen.add(key);
  }
}
