/*
 * gate.mjs - may the billing server be released? Keeps the evidence in a folder and ends with the exit
 * code of `mcpxctl gate`: what `make gate` runs.
 *
 *     node gate.mjs FOLDER
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BILLING, billOfMaterials, startRelease } from './lib/release.mjs';

const evidence = process.argv[2];
const cleanups = [];
try {
  rmSync(evidence, { recursive: true, force: true });
  mkdirSync(evidence, { recursive: true });
  const bill = join(evidence, 'sbom.json');
  writeFileSync(bill, billOfMaterials());
  const { telemetry, run } = await startRelease({ after: (action) => cleanups.unshift(action) });
  const { status, stdout, stderr } = run('gate', BILLING, '--to', 'billing', '--release',
    '--telemetry', telemetry, '--sbom', bill, '--evidence', evidence);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status;
} finally {
  for (const action of cleanups) await action();
}
