/*
 * recording.test.mjs - what breaks for whom: README.md shows a newcomer a demo that goes otherwise on his
 * own machine. And what a run changes must not change the picture, or nobody trusts this test.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CONSENT, normalised, picture, pictureOfConsent } from './lib/recording.mjs';

test('docs/demo-consent.svg is what demo 2 prints; to mend: tests/e2e/run.sh record', async () => {
  assert.equal(readFileSync(CONSENT, 'utf8'), await pictureOfConsent());
});

/* How the demo prints what a program has said. */
const said = (text) => `     \u001b[2m${text.length > 70 ? `${text.slice(0, 67)}...` : text}\u001b[0m\r\n`;

test('names, times and places do not change a recording; anything else does', () => {
  const run = (id, other, digest, time, pause, folder, port) => normalised(
    `at ws://127.0.0.1:${port} in ${folder}, after 127.0.0.1:0\r\n`
    + said(`${time} ${id.slice(0, 8)}@${digest}`) + said(`proposal ${id}`)
    + said(`${other.slice(0, 8)}  ${pause}  result`));
  const once = run('9d561136-9bbd-4b89-8d1c-fa0c341d5f52', '2bd761dc', 'bbb8ba5dc02078260ce30e53b9605f26',
    '14:14:26', '+100 ms', '/tmp/mcpx-demo-ZtRdbD', 40357);
  const again = run('025da3f5-17d1-4c86-8ff7-121db5802b4b', '600b21c4', '3ae1755020377a6634713ee4e0f41333',
    '00:00:59', '+1.2 s', '/tmp/mcpx-demo-0GuTIp', 8080);
  assert.equal(once, again);
  assert.match(once, /after 127\.0\.0\.1:0\n/);
  const mixed = run('9d561136-9bbd-4b89-8d1c-fa0c341d5f52', '9d561136', 'bbb8ba5dc02078260ce30e53b9605f26',
    '14:14:26', '+100 ms', '/tmp/mcpx-demo-ZtRdbD', 40357);
  assert.notEqual(once, mixed, 'another id where there was another one');
});

test('a picture has every row, coloured as on the terminal, and nothing that a browser would obey', () => {
  const long = 'x'.repeat(120);
  const drawn = picture({ command: 'demo <1>', title: 'a & b', description: 'c',
    text: `\u001b[1mfirst\u001b[0m <b>&amp;</b>\n\u001b[2m${long}\u001b[0m\n${long}\n` });
  const rows = [...drawn.matchAll(/<text [^>]*>(.*)<\/text>/g)].map((match) => match[1]);
  assert.deepEqual(rows, [
    '$ demo &lt;1>',
    '<tspan class="b">first</tspan> &lt;b>&amp;amp;&lt;/b>',
    `<tspan class="d">${'x'.repeat(105)}...</tspan>`,
    'x'.repeat(108),
    'x'.repeat(12),
  ]);
  assert.match(drawn, /<title id="title">a &amp; b<\/title>/);
});
