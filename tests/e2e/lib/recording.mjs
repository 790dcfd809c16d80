/*
 * recording.mjs - a picture of what a demo prints: the demo runs on a terminal, what differs from run to
 * run (names, times, ports, places) is made the same, and the rest is drawn, line by line, as SVG.
 * So the picture changes when the demo does, and only then. A film was refused: its frames would
 * weigh a hundred times as much, and nobody can search, select or read them out.
 */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routerBinary } from './router.mjs';
import { Show } from './show.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const COLUMNS = 108;
const LINE = 17; /* height of one, in pixels */
const MARGIN = 20;
const WIDTH = 820; /* of the columns, in a font whose letters are 0.6 em wide, and two margins */

/** Runs a demo on a terminal and gives what appeared on it; `answers`: [pattern, what is typed then]. */
export async function record(number, answers) {
  const show = new Show(`node demo.mjs ${number}`,
    { terminal: true, env: { TMPDIR: '/tmp', NO_COLOR: undefined, DEMO_PAUSE: undefined } });
  for (const [question, answer] of answers) {
    await show.until(question);
    show.type(answer);
  }
  const { code } = await show.end();
  if (code !== 0) throw new Error(`demo ${number} ended with exit code ${code}\n${show.log}`);
  return show.log;
}

/* Ids are renamed in the order in which they appear; those who begin alike are the same one. */
function renamed(text) {
  const names = new Map();
  const name = (id) => {
    const short = id.slice(0, 8);
    if (!names.has(short)) {
      const digits = createHash('sha256').update(`id ${names.size}`).digest('hex');
      names.set(short, digits);
    }
    let at = 0;
    const digits = names.get(short);
    return id.replace(/[0-9a-f]/g, () => digits[at++]);
  };
  return text.replace(/(?<![0-9a-f])([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{8})(?![0-9a-f])/g,
    name);
}

/* What differs from run to run, and what stands for it. */
const CHANGING = [
  [join(dirname(routerBinary())), '~/mcpx-router/build/bin'],
  [ROOT.replace(/\/$/, ''), '~/mcpx-router'],
  [/\/tmp\/mcpx-demo-\w{6}/g, '/tmp/mcpx-demo-k3vQ8d'],
  [/127\.0\.0\.1:[1-9]\d*/g, '127.0.0.1:41207'],
  [/(?<!\d)\d\d:\d\d:\d\d(?!\d)/g, '10:24:07'],
  [/\+[\d.]+ (ms|s|min)\b/g, '+21 ms'],
  [/ in [\d.]+ s\b/g, ' in 1.2 s'],
];

/** The same for every run that went the same way. */
export function normalised(text) {
  return renamed(CHANGING.reduce((all, [what, by]) => all.replaceAll(what, by), text.replaceAll('\r', '')));
}

const STYLES = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y', 36: 'c' };

/* A line as [{ text, style }]; `style` is a list of classes. The escape sequences are those of stage.mjs. */
function spans(line, start) {
  const found = [];
  let style = start;
  for (const [, code, text] of `\u001b[m${line}`.matchAll(/\u001b\[(\d*)m([^\u001b]*)/g)) {
    if (code === '0') style = '';
    else if (code !== '') style = `${style} ${STYLES[code]}`.trim();
    if (text !== '') found.push({ text, style });
  }
  return { found, style };
}

/*
 * What programs say (it is dim) is cut off, where the demo cuts off later; its place there depends on how
 * long the times are. What the demo says is continued in the next row, as terminals do.
 */
function folded(line) {
  const length = line.reduce((sum, { text }) => sum + text.length, 0);
  const cut = length > COLUMNS && line.at(-1).style === 'd';
  const rows = [[]];
  let room = cut ? COLUMNS - 3 : COLUMNS;
  for (const { text, style } of line) {
    for (let at = 0; at < text.length;) {
      if (room === 0 && cut) return rows;
      if (room === 0) {
        rows.push([]);
        room = COLUMNS;
      }
      const part = text.slice(at, at + room);
      at += part.length;
      room -= part.length;
      rows.at(-1).push({ text: room === 0 && cut ? `${part}...` : part, style });
    }
  }
  return rows;
}

function rowsOf(text) {
  const rows = [];
  let style = '';
  for (const line of text.trimEnd().split('\n')) {
    const read = spans(line, style);
    style = read.style;
    rows.push(...folded(read.found));
  }
  return rows;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/* Seconds until a row appears, after the one before it. */
function delay(text) {
  if (/^\d\. /.test(text)) return 1.2;
  return /^ *(\$|✓)/.test(text) ? 0.5 : 0.1;
}

function drawn(rows) {
  let seconds = 0;
  const lines = rows.map((row, index) => {
    const text = row.map((span) => span.text).join('');
    seconds += delay(text);
    if (text.trim() === '') return '';
    const parts = row.map((span) => (span.style === '' ? escaped(span.text)
      : `<tspan class="${span.style}">${escaped(span.text)}</tspan>`));
    return `<text x="${MARGIN}" y="${MARGIN + LINE * index + 12}" `
      + `style="animation-delay:${seconds.toFixed(1)}s">${parts.join('')}</text>`;
  });
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * The picture of a terminal on which `command` printed `text`; `title` and `description` are for those
 * who do not see it.
 */
export function picture({ command, text, title, description }) {
  const rows = rowsOf(`$ ${command}\n\n${text}`);
  const height = rows.length * LINE + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" \
height="${height}" role="img" aria-labelledby="title desc" xml:space="preserve">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<!-- made by tests/e2e/record.mjs -->
<style>
rect { fill: #f6f8fa; stroke: #d1d9e0 }
text { fill: #1f2328; white-space: pre;
  font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
.b { font-weight: bold }
.d { fill: #59636e } .r { fill: #b3121f } .g { fill: #116329 } .y { fill: #7d4e00 } .c { fill: #0b5f66 }
@media (prefers-color-scheme: dark) {
  rect { fill: #151b23; stroke: #3d444d }
  text { fill: #e6edf3 }
  .d { fill: #9aa4af } .r { fill: #ff8f87 } .g { fill: #56d364 } .y { fill: #e3b341 } .c { fill: #56d4dd }
}
@media (prefers-reduced-motion: no-preference) {
  text { animation: appear 0.2s backwards }
  @keyframes appear { from { opacity: 0 } }
}
</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
${drawn(rows)}
</svg>
`;
}

/** The one that README.md shows. */
export const CONSENT = join(ROOT, 'docs', 'demo-consent.svg');

export async function pictureOfConsent() {
  const text = await record(2, [[/\[y\/N\] $/, 'y\n']]);
  return picture({
    command: 'make demo DEMO=2',
    text: normalised(text),
    title: 'Demo 2: an agent may only propose, and a person says yes',
    description: 'A terminal. A router and a file server are started. An agent, which may only propose, asks the '
      + 'server to write a file, is refused, is told that it may propose this, and does so. A person lists '
      + 'the open proposals, reads this one, is asked and answers y. The file is written, the agent hears '
      + 'so, and a list shows who proposed, who agreed and what came of it.',
  });
}
