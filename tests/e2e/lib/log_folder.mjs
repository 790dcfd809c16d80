/*
 * log_folder.mjs - a folder for what an edge writes down of its calls, and what stands in it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `dir` is gone when the test ends; the functions read the newest file of each log. */
export function logFolder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'mcpx-terms-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const lines = (log) => readFileSync(join(dir, log, `${log}.latest.jsonl`), 'utf8').split('\n')
    .filter((line) => line).map((line) => JSON.parse(line));
  return { dir, telemetry: () => lines('telemetry'), validation: () => lines('envelope_validation') };
}
