/*
 * What breaks for whom: the end-to-end tests would judge the router by a CONTEXT table of their
 * own. The page is the test data, as in tests/conformance. Protocol: section 2.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { kindOf } from './lib/wire.mjs';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

/** The rows under a head line, as arrays of cells. */
function rowsOf(head) {
  const lines = page.slice(page.indexOf(head)).split('\n').slice(2);
  return lines
    .slice(0, lines.findIndex((line) => !line.startsWith('|')))
    .map((line) => line.split('|').slice(1, -1));
}

const codes = (cell) => [...cell.matchAll(/`([^`]*)`/g)].map((match) => match[1]);

function setPath(message, path, value) {
  const names = path.split('.');
  const last = names.pop();
  const inner = names.reduce((object, name) => (object[name] ??= {}), message);
  inner[last] = value;
}

test('contexts come from where the table says, and from nowhere else', () => {
  let methods = 0;
  for (const [left, right] of rowsOf('| METHOD | CONTEXT |')) {
    const [path] = codes(right);
    if (path === undefined) continue; // every other method
    const [named, where] = left.split(' where ');
    for (const method of codes(named)) {
      const decoys = { name: 'decoy', uri: 'decoy', taskId: 'decoy' };
      const message = { method, params: { ...decoys, ref: { ...decoys, type: 'decoy' } } };
      setPath(message, path, 'what:it/is');
      if (where) setPath(message, ...codes(where));
      assert.equal(kindOf('mcp/request', message), `mcp/request:${method}:what:it/is`);
      methods++;
    }
  }
  assert.equal(methods, 15);
  for (const method of ['tools/list', 'tasks/list', 'notifications/progress', 'ping']) {
    const params = { name: 'decoy', uri: 'decoy', taskId: 'decoy', ref: { name: 'decoy' } };
    assert.equal(kindOf('mcp/request', { method, params }), `mcp/request:${method}`);
  }
});
