/* release.mjs - the billing server of ../billing behind its edge, and `mcpxctl gate` asking about it. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderFor } from './folder.mjs';
import { startImport } from './import.mjs';
import { programBinary } from './program.mjs';
import { Router } from './router.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
/** The server, its terms, and with what its answers are compared. */
export const BILLING = join(HERE, '../billing');
/** Prints a bill of materials of our programs. */
export const SBOM = join(HERE, '../../../docker/sbom');
const TOPIC = 'release';

/** The bill of materials of this machine's programs. */
export function billOfMaterials() {
  const { status, stdout, stderr } = spawnSync(SBOM, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${SBOM}: ${stderr}`);
  return stdout;
}

/**
 * Starts a router and the server behind an edge; all of it ends with the test.
 *
 * `words` are for the server; `terms`: false, and there are none; an object: in place of some members
 *
 * Gives the `folder` with a copy of BILLING that a test may change, the `telemetry` and `validation` of the edge, and
 * `run(verb, ...)`, which gives `{ status, stdout, stderr }` of a verb of mcpxctl.
 */
export async function startRelease(t, { words = [], terms = true } = {}) {
  const folder = folderFor(t);
  cpSync(BILLING, folder, { recursive: true });
  const log = join(folder, 'log');
  const text = JSON.parse(readFileSync(join(folder, 'terms.json'), 'utf8'));
  const router = await Router.startFor(t);
  const options = terms ? ['--contracts', JSON.stringify({ ...text, ...(terms === true ? {} : terms), log: { ...text.log, dir: log } })] : [];
  const bridge = await startImport(t, router, TOPIC, 'billing',
    ['node', join(BILLING, 'server.mjs'), ...words], { options });
  await bridge.until(/is ready/);
  const token = await router.token('releaser', TOPIC);
  const run = (...args) => spawnSync(programBinary('mcpxctl'), args,
    { encoding: 'utf8', env: { ...process.env, MCPX_URL: router.url, MCPX_TOPIC: TOPIC, MCPX_TOKEN: token } });
  return { folder, run, telemetry: join(log, 'telemetry/telemetry.latest.jsonl'),
    validation: join(log, 'envelope_validation/envelope_validation.latest.jsonl') };
}
