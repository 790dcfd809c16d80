/*
 * What breaks for whom: everybody in all rooms, while a disk does not answer that only metrics, keys
 * and certificates are on.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Certificates } from './lib/certificates.mjs';
import { Disk } from './lib/disk.mjs';
import { Participant } from './lib/participant.mjs';
import { ends } from './lib/program.mjs';
import { eventually } from './lib/router.mjs';

/** Longer than it takes until each file is looked at again. */
const HANGS_MS = 2500;

const jwks = (count) => JSON.stringify({ keys: Array.from({ length: count }, (_, i) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid: `k${i}`, alg: 'ES256' })) });

/** A router with an audit, keys and certificates in files, on a disk that can hang; nothing is stored. */
async function start(t) {
  const disk = await Disk.makeFor(t, { audit: true });
  const certificates = new Certificates(t).make('one').make('two').become('one', 'live');
  writeFileSync(certificates.path('jwks.json'), jwks(1));
  Object.assign(disk.config, { store: { kind: 'memory' },
    tls: certificates.settings(),
    auth: { jwt: { jwks_file: certificates.path('jwks.json') } } });
  const router = await disk.start({ isSlow: true, args: ['--listen', 'tls://127.0.0.1:0'] });
  const pair = await Promise.all(['ann', 'bob'].map((id) => Participant.join(router, { id, topic: 'room',
    capabilities: ['chat'] })));
  return { disk, router, certificates, pair };
}

/** Ann talks to Bob for as long as that; every message arrives before the next is sent. */
async function talk([ann, bob]) {
  const end = Date.now() + HANGS_MS;
  while (Date.now() < end) await bob.untilId(ann.send('chat', {}));
}

test('while a disk does not answer, messages and metrics do not wait for it', async (t) => {
  const { disk, router, certificates, pair } = await start(t);
  assert.match((await router.get('/metrics')).text, /^mcpx_audit_free_bytes \d+$/m);
  disk.becomes('mute');
  const all = talk(pair);
  writeFileSync(certificates.path('jwks.json'), jwks(2));
  await all;
  assert.match((await router.get('/metrics')).text, /^mcpx_key_file_keys\{.*\} 1$/m);
  disk.becomes('ok');
  await eventually(() => /event=keys_read .*keys=2/.test(router.log), 'the new keys were not read');
});

test('what is asked for while a disk does not answer is done when it does, in its order', async (t) => {
  const { disk, router, certificates, pair } = await start(t);
  disk.becomes('mute');
  await talk(pair);
  certificates.become('two', 'live');
  router.restart(); /* one that is not activated reads all again */
  await talk(pair);
  assert.doesNotMatch(router.log, /event=(tls_files_read|reloaded)/);
  disk.becomes('ok');
  const events = () => router.log.match(/event=(tls_files_read|reloaded)/g) ?? [];
  await eventually(() => events().includes('event=reloaded'), 'no reload');
  assert.equal(events()[0], 'event=tls_files_read');
});

test('a second TERM kills nobody who waits for a disk, and puts everything away behind it', async (t) => {
  const { disk, router, pair } = await start(t);
  disk.becomes('mute');
  await talk(pair);
  process.kill(router.pid, 'SIGTERM');
  await eventually(() => /event=stopped/.test(router.log), 'it does not stop');
  for (let i = 0; i < 3; i++) process.kill(router.pid, 'SIGTERM');
  disk.becomes('ok');
  await eventually(() => !existsSync(`/proc/${router.pid}`), 'it does not end');
  await ends(disk.verifyAudit());
});
