/*
 * page.mjs - a page of the documentation as what a reader meets in it, from top to bottom: headings
 * and blocks. The info string of a block's fence says what is to be done with it; docs/testing.md
 * has the list. Every block has one, so none is left out unnoticed.
 */
import { readFileSync } from 'node:fs';

const FENCE = /^```(.*)$/;
const HEADING = /^(#+) +(.*)$/;

/** A fault of a page, or of a program that does not do what the page says: names page and line. */
export class PageError extends Error {
  constructor(page, line, text) {
    super(`${page}:${line}: ${text}`);
  }
}

/**
 * The headings `{ level, title, line }` and blocks `{ info, lines, line }` of a page; `line` is
 * where a heading or a block's first line stands, counted from 1.
 */
export function readPage(path, name) {
  const steps = [];
  let block;
  let before = '';
  readFileSync(path, 'utf8').split('\n').forEach((text, index) => {
    const fence = FENCE.exec(text);
    const heading = HEADING.exec(text);
    if (block) {
      if (text === '```') block = undefined;
      else block.lines.push(text);
    } else if (fence) {
      block = { info: fence[1].trim(), lines: [], line: index + 2 };
      steps.push(block);
    } else if (heading) {
      steps.push({ level: heading[1].length, title: heading[2], line: index + 1 });
    } else if (/^ {4}\S/.test(text) && before === '') {
      throw new PageError(name, index + 1, 'a block without fence: begin it with ``` and what it is');
    }
    before = text;
  });
  return steps;
}

/**
 * The commands of a console block: `{ text, line, shown }`, where `shown` are the lines of output
 * that follow. A command whose line ends with a backslash goes on in the next one.
 */
export function readConsole(block, name) {
  const commands = [];
  let open = false;
  block.lines.forEach((text, index) => {
    if (open) {
      commands.at(-1).text += `\n${text}`;
    } else if (text.startsWith('$ ')) {
      commands.push({ text: text.slice(2), line: block.line + index, shown: [] });
    } else if (commands.length === 0) {
      throw new PageError(name, block.line + index, 'a console block begins with "$ " and a command');
    } else {
      commands.at(-1).shown.push(text);
      return;
    }
    open = text.endsWith('\\');
  });
  return commands;
}
