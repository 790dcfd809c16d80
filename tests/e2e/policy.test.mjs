/*
 * The story: somebody asks who may do what on this router at this moment, and what another
 * configuration would change. What breaks for whom: an operator who reads that a right is gone when
 * somebody was lent it an hour ago, or puts a configuration in force that turns away what agents do
 * all day.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Participant } from './lib/participant.mjs';
import { programBinary } from './lib/program.mjs';
import { DEADLINE_MS, Router, signToken } from './lib/router.mjs';

const SECRET = 'a secret that is long enough to be one, and only for this test';
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const person = (name, grants, more = {}) =>
  ({ token_sha256: sha256(`token-of-${name}`), topics: ['room*'], grants, ...more });

/** A router with these people and an administrator, and `ctl`, which runs mcpxctl as one of them. */
async function start(t, people, config = {}) {
  const router = await Router.start({ config: { auth: { jwt: { secret: SECRET } }, ...config,
    participants: { chief: person('chief', ['admin/*', 'mcp/*', 'chat'], { topics: ['*'] }), ...people } } });
  t.after(() => router.stop());
  const folder = mkdtempSync(join(tmpdir(), 'mcpx-policy-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const ctl = (name, ...words) => new Promise((done) => {
    const env = { ...process.env, MCPX_URL: `${router.url.replace(/^http/, 'ws')}`,
      MCPX_TOKEN: `token-of-${name}`, XDG_CONFIG_HOME: folder };
    execFile(programBinary('mcpxctl'), words, { env, timeout: DEADLINE_MS, cwd: folder, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
  });
  return { router, folder, ctl };
}

test('policy show tells what is configured, and what was changed at run time as such', async (t) => {
  const { router, ctl } = await start(t, {
    bob: person('bob', ['chat', { kind: 'mcp/request:ping', to: ['fs'] }],
      { profile: 'reader', jwt: 'accepted', topics: ['room-1', 'room-2'] }) },
  { profiles: { reader: { grants: ['mcp/response:*'], deny: ['mcp/request:tools/call:rm'] } } });
  const guest = await Participant.join(router, { topic: 'room-1',
    token: signToken(SECRET, { participantId: 'guest', topic: 'room-1', capabilities: ['chat'] }) });
  t.after(() => guest.close());
  const change = async (id, body) => {
    const answer = await router.request('POST', `/admin/participants/${id}/capabilities`,
      { token: 'token-of-chief', body: { topic: 'room-1', ...body } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.changes;
  };
  const [lent] = await change('bob', { add: ['mcp/notification:*'], until: 600 });
  await change('guest', { remove: ['chat'] });

  const told = await ctl('chief', 'policy', 'show');
  assert.equal(told.code, 0, told.stderr);
  const { json: policy } = await router.request('GET', '/admin/policy', { token: 'token-of-chief' });
  assert.equal(told.stdout, `policy ${policy.rev}
profile reader
  grants  mcp/response:*
  denied  mcp/request:tools/call:rm
participant bob
  topics  room-1, room-2
  grants  mcp/response:*, chat, {"kind":"mcp/request:ping","to":["fs"]}
  denied  mcp/request:tools/call:rm
  signed tokens are accepted
  changed at run time in room-1
    add mcp/notification:*  until ${lent.until}  by chief
participant chief
  topics  *
  grants  admin/*, mcp/*, chat
participant guest, not in the configuration, connections: 1
  changed at run time in room-1
    remove chat  by chief
`);
  const json = JSON.parse((await ctl('chief', 'policy', 'show', '--json')).stdout);
  assert.equal(json.rev, policy.rev);
  assert.deepEqual(json.profiles, policy.profiles);
  const bob = json.participants.find(({ id }) => id === 'bob');
  const { id, ...entry } = policy.participants.find((each) => each.id === 'bob');
  assert.deepEqual(bob.configured, entry);
  assert.deepEqual(bob.changed, [{ topic: 'room-1', changes: [lent] }]);
});

test('policy show reads page after page, and needs a grant', async (t) => {
  const names = Array.from({ length: 2100 }, (_, i) => `agent+${String(i).padStart(4, '0')}&`);
  const { ctl } = await start(t, Object.fromEntries(names.map((name) => [name, person(name, ['chat'])])));
  const told = await ctl('chief', 'policy', 'show');
  assert.equal(told.code, 0, told.stderr);
  assert.deepEqual([...told.stdout.matchAll(/^participant (.*)$/gm)].map(([, id]) => id), [...names, 'chief']);
  const refused = await ctl(names[7], 'policy', 'show');
  assert.equal(refused.code, 3, refused.stderr);
  assert.equal(refused.stdout, '');
  assert.match(refused.stderr, /admin\/read/);
  for (const [words, why] of [[['show', 'router.json'], /takes no file/], [['shew'], /show or diff/],
    [['diff', 'router.json'], /OLD and NEW/]]) {
    const { code, stderr } = await ctl('chief', 'policy', ...words);
    assert.equal(code, 2, stderr);
    assert.match(stderr, why);
  }
});

test('policy diff tells who gains and loses what between two files, as a reload would', async (t) => {
  const people = { ann: person('ann', ['chat', 'mcp/*']), bob: person('bob', ['chat']) };
  const { router, folder, ctl } = await start(t, people);
  const put = (name, config) => writeFileSync(join(folder, name), JSON.stringify(config));
  const chief = person('chief', ['admin/*', 'mcp/*', 'chat'], { topics: ['*'] });
  const old = { auth: { jwt: { secret: SECRET } }, participants: { chief, ...people } };
  const next = { ...old, limits: { ping_s: 20 }, participants: { chief,
    ann: person('ann', ['chat'], { deny: ['x/*'] }), eve: person('eve', ['chat']) } };
  put('old.json', old);
  put('new.json', next);
  const same = await ctl('chief', 'policy', 'diff', 'old.json', 'old.json');
  assert.equal(same.code, 0, same.stderr);
  assert.match(same.stdout, /^participants: 0 added, 0 removed, 0 changed$/m);

  const told = await ctl('chief', 'policy', 'diff', 'old.json', 'new.json', '--json');
  assert.equal(told.code, 1, told.stderr);
  const { restart, ...answer } = JSON.parse(told.stdout);
  assert.deepEqual(restart, []);
  assert.deepEqual(answer.participants, { added: 1, removed: 1, changed: 1 });
  writeFileSync(join(router.folder, 'router.json'), JSON.stringify(next));
  const reload = await router.request('POST', '/admin/reload', { token: 'token-of-chief', body: {} });
  assert.deepEqual(reload.json, answer, 'the router says the same');

  const shown = await ctl('chief', 'policy', 'diff', 'old.json', 'new.json');
  assert.equal(shown.code, 1);
  assert.equal(shown.stdout, `policy ${answer.rev}, was ${answer.was}
participants: 1 added, 1 removed, 1 changed
changed: participant ann
  - mcp/*
  - denied: x/*
removed: participant bob
  - topic room*
  - chat
added: participant eve
  + topic room*
  + chat
setting /limits/ping_s: 25 -> 20
`);
  put('moved.json', { ...old, listen: ['127.0.0.1:1'] });
  const moved = await ctl('chief', 'policy', 'diff', 'old.json', 'moved.json');
  assert.equal(moved.code, 1, moved.stderr);
  assert.match(moved.stdout, /^setting \/listen.*which takes a restart of the router$/m);
  assert.equal((await ctl('chief', 'policy', 'diff', 'old.json', 'absent.json')).code, 2);
});
