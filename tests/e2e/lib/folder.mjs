/* folder.mjs - folders for the length of a test, and what an edge writes down of its calls in one. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder; it is gone when the test ends. */
export function folderFor(t) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'mcpx-test-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** One for call logs, `dir`; the functions read the newest file of each log. */
export function logFolder(t) {
  const dir = folderFor(t);
  const lines = (log) => readFileSync(join(dir, log, `${log}.latest.jsonl`), 'utf8').split('\n')
    .filter((line) => line).map((line) => JSON.parse(line));
  return { dir, telemetry: () => lines('telemetry'), validation: () => lines('envelope_validation') };
}
