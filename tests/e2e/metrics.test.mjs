/*
 * The story: somebody watches the router with Prometheus. Each metric is explained, has a type, and
 * is named as others name theirs; and what the dashboard and the alerts ask for is there.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Certificates } from './lib/certificates.mjs';
import { Disk } from './lib/disk.mjs';
import { Participant } from './lib/participant.mjs';
import { ends, run } from './lib/program.mjs';
import { eventually } from './lib/router.mjs';

const ROOT = new URL('../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

/** What a router with all that it may have says. */
async function page(t) {
  const disk = await Disk.makeFor(t, { audit: true });
  const certificates = new Certificates(t).make('ca', { cn: 'authority', san: '', authority: true })
    .make('live', { by: 'ca' }).revoke('live.crl', []);
  writeFileSync(certificates.path('live.pem'), certificates.text('ca.pem'), { flag: 'a' });
  disk.config.tls = certificates.settings({ clients: {}, crl: true });
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  writeFileSync(certificates.path('jwks.json'),
    JSON.stringify({ keys: [{ ...jwk, kid: 'one', alg: 'ES256' }] }));
  disk.config.auth = { jwt: { jwks_file: certificates.path('jwks.json') } };
  const router = await disk.start({ args: ['--listen', 'tls://127.0.0.1:0'] });
  const ann = await Participant.join(router, { id: 'ann', topic: 'room', capabilities: ['chat'],
    token: await router.token('ann', 'room', ['chat']) });
  await ann.untilId(ann.send('chat', { text: 'hello' }));
  await ann.untilRefused(ann.send('mcp/request', {}));
  /* It is timed when all have had their turn, which may be after ann has heard it. */
  return eventually(async () => {
    const { text } = await router.get('/metrics');
    return /^mcpx_delivery_seconds_count [1-9]/m.test(text) && text;
  }, 'no delivery was timed');
}

/** Name -> { type, help, samples } of each metric; a line that does not belong fails the test. */
function metricsOf(text) {
  const all = new Map();
  let name;
  for (const line of text.split('\n').filter(Boolean)) {
    const [, what, of, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (what === 'HELP') {
      assert.ok(!all.has(of), `${of} stands twice`);
      name = of;
      all.set(name, { help: rest, samples: [] });
    } else if (what === 'TYPE') {
      assert.equal(of, name, 'TYPE follows HELP');
      all.get(name).type = rest;
    } else {
      const [, sample] = /^([a-z_]+)(?:\{[^}]*\})? [0-9.]+$/.exec(line) ?? assert.fail(line);
      const suffix = all.get(name).type === 'histogram' ? /_(bucket|sum|count)$/ : /$^/;
      assert.equal(sample.replace(suffix, ''), name, line);
      all.get(name).samples.push(line);
    }
  }
  return all;
}

/** The rows of the table of metrics in docs/http-api.md: name -> type. */
function documented() {
  const rows = read('docs/http-api.md').matchAll(/^\| `([a-z_]+)(?:\{[^}]*\})?` \| (counter|gauge|histogram) \|/gm);
  return new Map([...rows].map(([, name, type]) => [name, type]));
}

test('each metric has a row in docs/http-api.md, and each row its metric', async (t) => {
  const metrics = metricsOf(await page(t));
  const types = new Map([...metrics].map(([name, { type }]) => [name, type]));
  assert.deepEqual([...types].sort(), [...documented()].sort());
  for (const [name, { samples }] of metrics) assert.ok(samples.length > 0, `${name} has no value`);
});

test('each reason of /readyz that docs/http-api.md has is a label of mcpx_unready', async (t) => {
  const [, table] = read('docs/http-api.md').split('| reason | what it means |\n|---|---|\n');
  const rows = table.split('\n\n')[0].matchAll(/^\| `([a-z ]+)` \|/gm);
  const { samples } = metricsOf(await page(t)).get('mcpx_unready');
  const labels = samples.map((line) => /reason="([a-z ]+)"/.exec(line)[1]);
  assert.deepEqual(labels.sort(), [...rows].map(([, reason]) => reason).sort());
});

test('what the dashboard and the alerts ask for is there', async (t) => {
  const metrics = metricsOf(await page(t));
  for (const file of ['config/grafana-dashboard.json', 'config/alerts.yml']) {
    const text = read(file).replace(/#.*/g, '');
    const asked = new Set(text.match(/\b(mcpx|process)_[a-z_]+/g));
    assert.ok(asked.size > 10, `${file} asks for something`);
    for (const name of asked) {
      const family = name.replace(/_(bucket|sum|count)$/, '');
      assert.ok(metrics.has(name) || metrics.get(family)?.type === 'histogram', `${file}: ${name}`);
    }
    for (const [, code] of text.matchAll(/code=\\?"([a-z_]+)\\?"/g)) {
      assert.ok(metrics.get('mcpx_refused_total').samples.some((line) => line.includes(`"${code}"`)), code);
    }
    for (const [, bound] of text.matchAll(/le=\\?"([0-9.]+)\\?"/g)) {
      assert.ok([...metrics.values()].some(({ samples }) => samples.some((line) => line.includes(`le="${bound}"`))), bound);
    }
  }
});

test('a refused kind is counted under its reason; match, delivery and turns of the loop are timed', async (t) => {
  const metrics = metricsOf(await page(t));
  const value = (name, label = '') => Number(metrics.get(name.replace(/_(count|sum)$/, '')).samples
    .find((line) => line.startsWith(`${name}${label} `)).split(' ')[1]);
  assert.equal(value('mcpx_capability_refused_total', '{reason="no_matching_grant"}'), 1);
  const all = metrics.get('mcpx_capability_refused_total').samples.map((line) => Number(line.split(' ')[1]));
  assert.equal(all.reduce((one, other) => one + other),
    value('mcpx_refused_total', '{code="capability_violation"}'));
  assert.equal(value('mcpx_match_seconds_count'), 1);
  for (const name of ['mcpx_match_seconds', 'mcpx_delivery_seconds', 'mcpx_loop_turn_seconds']) {
    assert.ok(value(`${name}_count`) > 0, name);
    const sum = value(`${name}_sum`);
    assert.ok(sum < 10 && (sum > 0 || name === 'mcpx_delivery_seconds'), name); /* its unit is a millisecond */
  }
});

test('Prometheus has nothing to say against it', async (t) => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
  } catch {
    t.skip('promtool is not installed (apt-get install prometheus)');
    return;
  }
  await ends(run('promtool', ['check', 'metrics'], { input: await page(t) }));
});
