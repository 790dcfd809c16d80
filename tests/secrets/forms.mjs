/*
 * forms.mjs - how a secret may be written: as it is, or in one of the encodings that logs, queries,
 * documents and databases have.
 */
/** Bytes that a secret must have at least to be looked for. */
export const SHORTEST = 8;

/*
 * Of a signed token two parts are looked for, each by itself. The signature makes it a token; what
 * comes before that tells who somebody is, and belongs into no log either.
 */
const SIGNED = /^eyJ[\w-]*\.([\w-]+)\.([\w-]+)$/;
const CLAIMS_MIN = 16;

function partsOf(secret) {
  const [, claims, signature] = SIGNED.exec(secret.toString()) ?? [];
  if (signature === undefined) return [['', secret]];
  const parts = [['', Buffer.from(signature)]];
  if (claims.length >= CLAIMS_MIN) parts.push(['its claims, ', Buffer.from(claims)]);
  return parts;
}

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

function* waysOf(bytes) {
  const text = bytes.toString();
  yield* [['as it is', bytes], ['in JSON', JSON.stringify(text).slice(1, -1)],
    ['percent-encoded', encodeURIComponent(text)], ['in hexadecimal', bytes.toString('hex')],
    ['in hexadecimal', bytes.toString('hex').toUpperCase()]];
  for (const encoding of ['base64', 'base64url']) {
    for (const found of base64Of(bytes, encoding)) yield [`in ${encoding}`, found];
  }
}

/** Each `[form, text]` of a secret, which is a Buffer; none when it is too short to be looked for. */
export function* formsOf(secret) {
  const seen = new Set();
  for (const [part, bytes] of partsOf(secret)) {
    if (bytes.length < SHORTEST) continue;
    for (const [way, found] of waysOf(bytes)) {
      const key = found.toString();
      if (!seen.has(key)) yield [`${part}${way}`, found];
      seen.add(key);
    }
  }
}
