/*
 * shown.mjs - what a page shows of a command's output, as a pattern for what the command says here.
 * Times, ids, digests and durations differ from run to run; "..." stands for anything, in a line of
 * its own for any lines. What the reader types is part of what a terminal shows.
 */

/* What differs, as it looks in a page, and what it may look like instead. */
const SHAPES = [
  ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', null],
  ['\\b[0-9a-f]{64}\\b', null],
  ['\\b[0-9a-f]{32}\\b', null],
  ['\\b(?=[0-9a-f]*[0-9])[0-9a-f]{8}\\b', '\\b[0-9a-f]{8}\\b'],
  ['\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z', null],
  ['\\b\\d\\d:\\d\\d:\\d\\d\\b', null],
  ['\\+\\d+ ms', '\\+[0-9.]+ m?s'],
  ['"(?:pos|uptime)":[0-9.]+', '"(?:pos|uptime)":[0-9.]+'],
  ['\\beyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+', null],
  ['\\.\\.\\.', '.*'],
];
const ANY_SHAPE = new RegExp(SHAPES.map(([shape]) => `(${shape})`).join('|'), 'g');

/* Lines that stand for others: any, and what a program says when it is interrupted. */
const ALONE = { '...': '(?:.*\\n)*?', '^C': '[^]*' };

const literally = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function patternOfLine(text) {
  let pattern = '';
  let from = 0;
  for (const match of text.matchAll(ANY_SHAPE)) {
    const [shape, instead] = SHAPES[match.slice(1).findIndex((part) => part !== undefined)];
    pattern += literally(text.slice(from, match.index)) + (instead ?? shape);
    from = match.index + match[0].length;
  }
  return pattern + literally(text.slice(from));
}

/** What is typed where this line stands: undefined, or `{ keys, prompt, interrupts }`. */
export function typedIn(line) {
  if (line === '^C') return { prompt: '', interrupts: true };
  const input = /^(> )(.+)$/.exec(line) ?? /^(.*\[y\/N\] )(.+)$/.exec(line);
  return input ? { keys: `${input[2]}\r`, prompt: input[1], interrupts: false } : undefined;
}

/** The pattern of lines; `rest` is the beginning of one more that has not ended. */
export function patternOf(lines, rest) {
  const whole = lines.map((line) => ALONE[line] ?? `${patternOfLine(line)} *\\n`);
  return whole.join('') + (rest === undefined ? '' : patternOfLine(rest));
}

/** Output as a screen shows it: no colours, a line that was written again once. */
export function asSeen(output) {
  return output
    // eslint-disable-next-line no-control-regex
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .replace(/\r+\n/g, '\n')
    .replace(/[^\n]*\r/g, '');
}
