/*
 * What a page says that is not so is found, and named with its line: otherwise the tests of the pages
 * (docs/testing.md, "Pages") would let readers type what does not work.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderFor } from './lib/folder.mjs';
import { Reader } from './lib/reader.mjs';

const ASIDE = 'console in a terminal of its own';

/* What a page holds, and the complaint about it; undefined where there is none. */
const PAGES = [
  ['a command that succeeds', ['```sh', 'true', '```']],
  ['variables stay', ['```sh', 'word=yes', '```', '```console', '$ echo $word', 'yes', '```']],
  ['a command that fails', ['```sh', 'true', 'false', '```'], /^page:3: ends with 1/],
  ['a part of a pipe that fails', ['```sh', 'false | cat', '```'], /^page:2: ends with 1/],
  ['another output', ['```console', '$ echo one', 'two', '```'], /^page:2: the page shows:\ntwo\n.*\none/s],
  ['less output', ['```console', '$ echo one; echo two', 'one', '```'], /^page:2: the page shows/],
  ['output that is left out', ['```console', '$ seq 9', '...', '9', '```']],
  ['another time and id', ['```console', '$ echo 09:10:11 0badcafe', '00:00:00 7640a838', '```']],
  ['a question', ['```console', '$ read -p "so? [y/N] " a; echo got $a', 'so? [y/N] y', 'got y', '```']],
  ['another answer', ['```console', '$ read -p "so? [y/N] " a; echo got $a', 'so? [y/N] n', 'got y', '```'],
    /^page:2: the page shows/],
  ['^C', ['```console', '$ sleep 1000', '^C', '```']],
  ['a program that stays', [`\`\`\`${ASIDE}`, '$ echo here; sleep 1000', 'here', '```']],
  ['a program that does not stay', [`\`\`\`${ASIDE}`, '$ echo here', 'here', '```'], /^page:2: ended with 0/],
  ['a program that ends with its section', ['## a', `\`\`\`${ASIDE}`,
    '$ sh -c \'trap "rm here; exit" INT; touch here; echo ready; sleep 1000 & wait\'', 'ready', '```', '### b',
    '```sh', 'test -e here', '```', '## c', '```sh', 'test ! -e here', '```']],
  ['what every terminal begins with', ['```sh in every terminal', 'export word=yes', '```', `\`\`\`${ASIDE}`,
    '$ echo $word; sleep 1000', 'yes', '```']],
  ['a command for root', ['```sh as root', 'touch /etc/page-was-here; false', '```']],
  ['a make target that is not there', ['```sh as root', 'sudo make nothing', '```'], /^page:2: .*nothing/s],
  ['a faulty configuration', ['```json', '{"lissten": []}', '```'], /^page:2: .*lissten/s],
  ['no configuration', ['```json', '{', '```'], /^page:2: /],
  ['a block without fence', ['text', '', '    ls'], /^page:3: a block without fence/],
  ['a block of no kind', ['```', 'ls', '```'], /^page:1: "" says not what the block is/],
];

test('what a page says that is not so is named with its line', async (t) => {
  const folder = folderFor(t);
  for (const [what, lines, complaint] of PAGES) {
    const path = join(folder, 'page.md');
    writeFileSync(path, lines.join('\n'));
    const reader = new Reader('page', path);
    try {
      if (complaint) await assert.rejects(reader.read(), { message: complaint }, what);
      else await reader.read();
    } catch (error) {
      throw new Error(`${what}: ${error.message}`);
    } finally {
      reader.close();
    }
  }
});
