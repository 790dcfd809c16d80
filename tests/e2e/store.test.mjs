/*
 * The story: an operator looks after the database of a router: backs it up in the middle of
 * everything, puts the copy in place after a loss, reads it out, erases a topic. docs/storage.md.
 */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync,
  writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Disk } from './lib/disk.mjs';
import { ends, run } from './lib/program.mjs';
import { routerBinary } from './lib/router.mjs';
import { historyOf, untilAllHeard, Witness, Writer } from './lib/witness.mjs';

async function talkers(router, topic, ...names) {
  const people = [...names.map((name) => new Writer(name, topic)), new Witness('r0', topic)];
  await Promise.all(people.map((one) => one.join(router)));
  return people;
}

const history = async (router, topic) => historyOf(router, topic, await router.token('auditor', topic, ['*']));

/** The envelopes that `mcpxctl store export` prints, byte for byte. */
function envelopesOf(stdout) {
  const begin = ',"envelope":';
  return stdout.trimEnd().split('\n').map((line) => line.slice(line.indexOf(begin) + begin.length, -1));
}

test('a backup taken under load is whole, and serves when it is put in place', async (t) => {
  const disk = await Disk.makeFor(t);
  let router = await disk.start();
  const people = await talkers(router, 'ann', 'w0', 'w1');
  for (const one of people.slice(0, 2)) one.talk(64);
  await people[2].watch.until(() => people[2].seen.length > 2000 || undefined);
  const copy = `${disk.file}.backup`;
  const made = await ends(disk.ctl('store', 'backup', disk.file, copy, '--json'));
  assert.equal(JSON.parse(made.stdout).copy, copy);
  await untilAllHeard(people);
  const all = people[2].seen;
  await ends(disk.ctl('store', 'backup', disk.file, copy), 1, /is there already/, 'a backup replaces nothing');
  const checked = await ends(disk.ctl('store', 'check', copy, '--json'));
  const { whole, messages } = JSON.parse(checked.stdout);
  assert.ok(whole && messages >= 2000 && messages <= all.length, checked.stdout);
  await router.kill();

  renameSync(disk.file, `${disk.file}.aside`);
  copyFileSync(copy, disk.file);
  await ends(disk.ctl('store', 'check', disk.file),
    2, /move the -wal away, too, or use mcpxctl store restore/, 'the -wal of the old file is there');
  renameSync(`${disk.file}.aside`, disk.file);
  const restored = await disk.ctl('store', 'restore', disk.file, copy, '--json');
  assert.deepEqual(JSON.parse(restored.stdout), { file: disk.file, copy, messages }, restored.stderr);
  const old = await disk.ctl('store', 'check', `${disk.file}.old`, '--json');
  assert.equal(JSON.parse(old.stdout).messages, all.length, 'what was there is kept');
  router = await disk.start();
  assert.deepEqual(await history(router, 'ann'), all.slice(0, messages), 'the history of the copy');
  await assert.rejects(people[2].join(router), /goes on in ann/,
    'whoever received more than the copy has is told that something is missing');

  const later = await talkers(router, 'ann', 'x0', 'x1');
  for (const one of later.slice(0, 2)) one.talk(8);
  await later[2].watch.until(() => later[2].seen.length > 40 || undefined);
  await untilAllHeard(later);
  const before = later[2].seen.length;
  await later[2].leave();
  later[0].say();
  await later[0].untilHeard();
  await later[2].join(router); /* which asserts that it goes on where it was */
  await untilAllHeard(later);
  assert.ok(later[2].seen.length > before);
  assert.deepEqual((await history(router, 'ann')).slice(messages), later[2].seen, 'no gap and nothing twice');
  await Promise.all(later.map((one) => one.leave()));
});

test('messages can be read out, checked, and erased', async (t) => {
  const disk = await Disk.makeFor(t);
  let router = await disk.start();
  const people = [...await talkers(router, 'ann', 'w0', 'w1'), ...await talkers(router, 'bob', 'w0', 'w1')];
  for (const one of people.filter((one) => one.talk)) one.talk(4);
  await people[2].watch.until(() => people[2].seen.length > 100 || undefined);
  await untilAllHeard(people);
  const [ann, bob] = [people[2].seen, people[5].seen];

  const exported = await ends(disk.ctl('store', 'export', disk.file, '--topic', 'ann'));
  assert.deepEqual(envelopesOf(exported.stdout), ann);
  const serials = exported.stdout.trimEnd().split('\n').map((line) => JSON.parse(line).serial);
  assert.deepEqual(serials, ann.map((_, i) => i + 1));
  assert.equal((await disk.ctl('store', 'export', disk.file, '--topic', 'eve')).code, 4);

  const copy = `${disk.file}.backup`;
  assert.equal((await disk.ctl('store', 'backup', disk.file, copy)).code, 0);
  for (const words of [['erase', disk.file, 'ann'], ['compact', disk.file], ['restore', disk.file, copy]]) {
    await ends(disk.ctl('store', ...words), 1, /in use by process \d+; stop that router first/);
  }
  await Promise.all(people.map((one) => one.leave()));
  await router.stop();
  const erased = await disk.ctl('store', 'erase', disk.file, 'ann', '--json');
  assert.deepEqual(JSON.parse(erased.stdout), { topic: 'ann', messages: ann.length });
  assert.equal((await disk.ctl('store', 'erase', disk.file, 'ann')).code, 4);
  await ends(disk.ctl('store', 'compact', disk.file, '--json'));
  assert.ok(!readFileSync(disk.file).includes(ann[0]));
  router = await disk.start();
  assert.deepEqual(await history(router, 'bob'), bob);
  await router.stop();

  const bytes = readFileSync(disk.file);
  bytes[bytes.indexOf(Buffer.from(bob[7])) + 20] ^= 1;
  writeFileSync(disk.file, bytes);
  const checked = await ends(disk.ctl('store', 'check', disk.file), 1, /^topic bob, serial 8: not what was written$/m);
  assert.match(checked.stdout, /: damaged: /);
  const rest = await ends(disk.ctl('store', 'export', disk.file), 1);
  assert.deepEqual(envelopesOf(rest.stdout), bob.filter((_, i) => i !== 7));
  await ends(disk.ctl('store', 'restore', disk.file, disk.file), 1, /is damaged; store check says where/);
  for (const verb of ['backup', 'check', 'export', 'compact', 'erase', 'restore']) {
    const words = [verb, '/dev/null', ...(/backup|erase/.test(verb) ? ['x'] : [])];
    if (verb === 'restore') words.splice(1, 0, disk.file);
    await ends(disk.ctl('store', ...words), 2, /\/dev\/null/, verb);
  }
});

test('--check names a file that is no database of this router, and touches nothing', async (t) => {
  const disk = await Disk.makeFor(t);
  const router = await disk.start();
  const people = await talkers(router, 'room', 'w0');
  people[0].talk(64);
  await people[1].watch.until(() => people[1].seen.length > 500 || undefined);
  await untilAllHeard(people);
  const folder = join(dirname(disk.file), 'other');
  mkdirSync(folder);
  const file = join(folder, 'messages.db');
  const look = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')]);
  const check = (path) => run(routerBinary(), ['--listen', '127.0.0.1:0', '--check'],
    { env: { MCPX_STORE_KIND: 'sqlite', MCPX_STORE_FILE: path } });
  const ours = await check(disk.file); /* a router has it, and writes to it */
  assert.equal(ours.code, 0, ours.stderr);
  assert.match(ours.stdout, /^configuration is valid$/m);
  const none = await ends(check(file));
  assert.deepEqual(look(), []);

  const copy = `${disk.file}.backup`;
  await ends(disk.ctl('store', 'backup', disk.file, copy));
  const whole = readFileSync(copy);
  const changed = (at, ...bytes) => Buffer.concat([whole.subarray(0, at), Buffer.from(bytes), whole.subarray(at + bytes.length)]);
  for (const [bytes, why] of [
    [whole, null],
    [Buffer.alloc(0), /is empty, which a database never is; put a backup in its place, or remove it/],
    ['{"store": {}}', /is not a SQLite database, or its beginning is damaged; name another file/],
    [changed(16, 3, 7), /is not a SQLite database, or its beginning is damaged/],
    [changed(21, 0), /is not a SQLite database, or its beginning is damaged/],
    [changed(68, 0, 0, 0, 0), /is the database of another program; name another file/],
    [changed(60, 0, 0, 0, 9), /was written by a newer mcpx-router \(version 9\); use that one, or name another file/],
    [whole.subarray(0, whole.length - 1), /is damaged: (\d+) bytes of \d+ are there; put a backup in its place/],
    [whole.subarray(0, 4096), /is damaged: 4096 bytes of/],
  ]) {
    writeFileSync(file, bytes);
    const before = look();
    const { code, stdout, stderr } = await check(file);
    assert.equal(code, why ? 1 : 0, stderr);
    assert.equal(/configuration is valid/.test(stdout), !why, stdout);
    assert.match(stderr, why ?? /^(?!.*store)/s);
    if (why) assert.ok(stderr.includes(file), stderr);
    assert.deepEqual(look(), before);
  }

  copyFileSync(copy, file);
  symlinkSync(file, `${file}.link`);
  assert.match((await check(`${file}.link`)).stderr, /is a symbolic link; name the file that it leads to/);
  rmSync(`${file}.link`);
  symlinkSync(`${file}-wal`, `${file}-wal`); /* nobody, root neither, can open that */
  await ends(check(file),
    1, /messages\.db-wal: this user may not read and write it \(.+\); expected a file of its own, or none/);
  rmSync(`${file}-wal`);
  writeFileSync(`${file}-wal`, 'pages that the file lacks');
  assert.match((await check(file)).stderr, /is a backup, and its -wal is of the database before it; move the -wal away/);
  writeFileSync(file, changed(18, 2, 2).subarray(0, 4096)); /* as a router leaves it */
  assert.equal((await check(file)).code, 0, 'the next start brings them in');
  assert.ok(!existsSync(`${file}.lock`));
});
