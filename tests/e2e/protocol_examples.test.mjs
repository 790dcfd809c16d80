/*
 * The story: a participant sends everything a confused or malicious program might send. Each
 * time it is told what was wrong, where, and about which envelope; nobody else receives a thing;
 * its connection goes on. Text is put on the wire by hand here: a well-behaved library could not
 * produce most of it. Protocol: sections 1, 2 and 6, row by row.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

const HEAD = '"protocol":"mcpx/v0.1"';

/** The envelope text with some members replaced, raw JSON each; null leaves one out. */
function text(members = {}) {
  const all = { protocol: '"mcpx/v0.1"', id: '"bad-1"', kind: '"chat"', payload: '{}', ...members };
  const parts = Object.entries(all).filter(([, value]) => value !== null)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${parts.join(',')}}`;
}

const quoted = (string) => JSON.stringify(string);

/** [what, text, field or undefined, whether the envelope's id can be read] */
const INVALID = [
  ['nothing at all', '', undefined, false],
  ['not JSON', 'hello', undefined, false],
  ['half an object', '{"protocol":"mcpx/v0.1","id":"bad-1"', undefined, false],
  ['an array', `[${text()}]`, undefined, false],
  ['a string', quoted(text()), undefined, false],
  ['a number', '42', undefined, false],
  ['null', 'null', undefined, false],
  ['a byte order mark', `\uFEFF${text()}`, undefined, false],
  ['two objects in one message', text() + text(), undefined, false],
  ['two objects on two lines', `${text()}\n${text()}`, undefined, false],
  ['something after the object', `${text()}x`, undefined, false],
  ['a NUL after the object', `${text()}\u0000`, undefined, false],
  ['a trailing comma', `{${HEAD},"id":"bad-1","kind":"chat","payload":{},}`, undefined, false],
  ['a comment', `/* hi */${text()}`, undefined, false],
  ['single quotes', text().replaceAll('"', "'"), undefined, false],
  ['a raw control character in a string', text({ payload: '{"a":"\n"}' }), undefined, false],
  ['a payload that is not JSON', text({ payload: '{"a":01}' }), undefined, false],
  ['NaN', text({ payload: '{"a":NaN}' }), undefined, false],
  ['nesting without end', text({ payload: `{"a":${'['.repeat(600)}${']'.repeat(600)}}` }),
    undefined, false],
  ['kind twice', text().replace('{', '{"kind":"chat",'), 'kind', true],
  ['kind twice, once escaped', text().replace('{', '{"k\\u0069nd":"system/error",'), 'kind', true],
  ['from twice, once escaped', text({ from: '"sender"' }).replace('{', '{"\\u0066rom":"other",'),
    'from', true],
  ['payload twice', text().replace('{', '{"payload":{"a":1},'), 'payload', true],
  ['an unknown member twice', text({ x: '1' }).replace('{', '{"x":2,'), undefined, true],
  ['id twice', text().replace('{', '{"id":"bad-2",'), 'id', false],
  ['no protocol', text({ protocol: null }), 'protocol', true],
  ['another protocol', text({ protocol: '"mcpx/v0.2"' }), 'protocol', true],
  ['a protocol that is a number', text({ protocol: '1' }), 'protocol', true],
  ['no id', text({ id: null }), 'id', false],
  ['an id that is a number', text({ id: '7' }), 'id', false],
  ['an empty id', text({ id: '""' }), 'id', false],
  ['an id too long', text({ id: quoted('x'.repeat(257)) }), 'id', false],
  ['an id with a control character', text({ id: '"a\\u0007b"' }), 'id', false],
  ['an id with a control character of Unicode', text({ id: '"a\\u009b"' }), 'id', false],
  ['an id that turns text around', text({ id: '"a\u202e"' }), 'id', false],
  ['a kind that turns text around', text({ kind: '"chat:a:\u202e"' }), 'kind', true],
  ['a name of the header in another letter case', text().replace('{', '{"FROM":"other",'), 'from', true],
  ['an id with half a surrogate pair', text({ id: '"\\ud800"' }), 'id', false],
  ['no kind', text({ kind: null }), 'kind', true],
  ['a kind that is a number', text({ kind: '1' }), 'kind', true],
  ['an empty kind', text({ kind: '""' }), 'kind', true],
  ['a kind without its method', text({ kind: '"mcp/request:"' }), 'kind', true],
  ['a kind with an empty method', text({ kind: '"mcp/request::x"' }), 'kind', true],
  ['a kind with a trailing colon', text({ kind: '"mcp/request:tools/call:"' }), 'kind', true],
  ['a kind that begins with a slash', text({ kind: '"/chat"' }), 'kind', true],
  ['a kind that climbs', text({ kind: '"mcp/../system/error"' }), 'kind', true],
  ['a kind with a space', text({ kind: '" chat"' }), 'kind', true],
  ['a kind with a Cyrillic look-alike', text({ kind: '"сhat"' }), 'kind', true],
  ['a kind with a NUL', text({ kind: '"chat\\u0000"' }), 'kind', true],
  ['a kind too long', text({ kind: quoted(`chat:a:${'x'.repeat(2048)}`) }), 'kind', true],
  ['no payload', text({ payload: null }), 'payload', true],
  ['a payload that is null', text({ payload: 'null' }), 'payload', true],
  ['a payload that is an array', text({ payload: '[]' }), 'payload', true],
  ['a payload that is a string', text({ payload: '"x"' }), 'payload', true],
  ['from that is a number', text({ from: '1' }), 'from', true],
  ['ts that is a number', text({ ts: '1' }), 'ts', true],
  ['to that is a string', text({ to: '"witness"' }), 'to', true],
  ['to that is null', text({ to: 'null' }), 'to', true],
  ['to that holds a number', text({ to: '["witness",1]' }), 'to', true],
  ['too many addressees', text({ to: `[${Array(257).fill('"a"').join(',')}]` }), 'to', true],
  ['correlation_id that is null', text({ correlation_id: 'null' }), 'correlation_id', true],
  ['an empty correlation_id', text({ correlation_id: '""' }), 'correlation_id', true],
  ['correlation_id that is a list', text({ correlation_id: '["a"]' }), 'correlation_id', true],
];

const RESERVED = ['system/error', 'system/welcome', 'system/presence', 'System/Error', 'SYSTEM/x',
  'system', 'system/x:tools/call:y', 'presence', 'presence/join', 'Presence/join'];

/** A room with one who sends and two who must not notice; `refuse` checks one refusal. */
async function stage(t, capabilities = ['*']) {
  const room = new Room(t, router);
  const sender = await room.join('sender', capabilities);
  const witness = await room.join('witness', ['chat']);
  const directed = await room.join('directed', ['chat'], { query: { routing: 'directed' } });
  await room.settle(witness, sender, directed);

  /* Sends `raw`; returns the one answer, having seen that nobody else heard anything. */
  async function refuse(raw, what) {
    await room.settle(witness, sender, directed); /* what was said before is not counted */
    const since = [sender, witness, directed].map((one) => one.received.length);
    sender.sendText(raw);
    const { envelope } = await sender.until((e) => e.kind === 'system/error', `error for ${what}`,
      { since: since[0] });
    const mark = await room.settle(witness, sender, directed);
    const ids = (one, n) => one.received.slice(since[n]).map((message) => message.envelope.id);
    assert.deepEqual(ids(witness, 1), [mark], `${what}: the witness heard something`);
    assert.deepEqual(ids(directed, 2), [mark], `${what}: the directed one heard something`);
    assert.deepEqual(ids(sender, 0), [envelope.id, mark], `${what}: one answer, no echo`);
    assert.deepEqual(envelope.to, ['sender'], what);
    assert.equal(envelope.protocol, 'mcpx/v0.1', what);
    assert.equal(typeof envelope.payload.message, 'string', what);
    return envelope;
  }
  return { room, sender, witness, refuse };
}

/* Rows are told apart in the output: one subtest each, all in one room. */
test('invalid_envelope: each fault is named, placed and correlated, and the connection goes on',
  async (t) => {
    const { sender, witness, refuse } = await stage(t);
    for (const [what, raw, field, readable] of INVALID) {
      await t.test(what, async () => {
        const { payload, correlation_id: cause } = await refuse(raw, what);
        assert.equal(payload.error, 'invalid_envelope');
        assert.equal(typeof payload.reason, 'string');
        assert.ok(payload.reason.length > 0);
        if (field !== undefined) assert.equal(payload.field, field);
        if (payload.offset !== undefined) {
          assert.ok(Number.isInteger(payload.offset) && payload.offset >= 0
            && payload.offset <= Buffer.byteLength(raw), `offset ${payload.offset}`);
        }
        if (readable) assert.equal(cause, 'bad-1');
        else if (cause !== undefined) assert.equal(cause, 'bad-1', 'no invented correlation');
      });
    }
    await witness.untilId(sender.send('chat', {}, { id: 'bad-1' }));
  });

test('auth_violation: nobody speaks in the name of another', async (t) => {
  const { refuse } = await stage(t);
  for (const from of ['witness', 'Sender', 'sender ', 'system', 'system:gateway', 'sender\u200c']) {
    const { payload, correlation_id: cause } = await refuse(text({ from: quoted(from) }), from);
    assert.equal(payload.error, 'auth_violation', from);
    assert.equal(cause, 'bad-1', from);
  }
});

test('invalid_envelope: a name with characters that nobody sees is none at all', async (t) => {
  const { refuse } = await stage(t);
  for (const from of ['sender\u200b', 'sender\ufeff', '\u202esender', 'sender\u0085']) {
    const { payload } = await refuse(text({ from: quoted(from) }), from);
    assert.equal(payload.error, 'invalid_envelope', from);
    assert.equal(payload.field, 'from', from);
  }
});

test('one\'s own name is accepted, escaped or not', async (t) => {
  const { witness, sender } = await stage(t);
  sender.sendText(text({ id: '"mine-1"', from: '"sender"' }));
  sender.sendText(text({ id: '"mine-2"', from: '"\\u0073ender"' }));
  await witness.untilId('mine-2');
  assert.ok(witness.heard().some(({ id, from }) => id === 'mine-1' && from === 'sender'));
});

test('capability_violation: system/* is the router\'s alone, even under the grant *', async (t) => {
  const { refuse } = await stage(t, ['*', 'system/*']);
  for (const kind of RESERVED) {
    const { payload, correlation_id: cause } = await refuse(text({ kind: quoted(kind) }), kind);
    assert.equal(payload.error, 'capability_violation', kind);
    assert.equal(payload.reason, 'reserved_namespace', kind);
    assert.equal(payload.attempted_kind, kind);
    assert.equal('would_allow' in payload, false, kind);
    assert.equal(cause, 'bad-1', kind);
  }
});

test('capability_violation: the kind, the grants and the way out are named', async (t) => {
  const { refuse } = await stage(t, ['chat', 'mcp/request:tools/list', 'mcp/proposal:tools/*']);
  const kind = 'mcp/request:tools/call:rm';
  const { payload, correlation_id: cause } = await refuse(text({ kind: quoted(kind) }), kind);
  assert.equal(cause, 'bad-1');
  assert.deepEqual({ ...payload }, {
    error: 'capability_violation',
    message: `You lack capability for '${kind}'`,
    attempted_kind: kind,
    your_capabilities: ['chat', 'mcp/request:tools/list', 'mcp/proposal:tools/*'],
    reason: 'no_matching_grant',
    nearest: 'mcp/request:tools/list',
    would_allow: kind,
    alternative: 'mcp/proposal:tools/call:rm',
  });
});

test('capability_violation: the grants of protocol section 3 cover what they say', async (t) => {
  const rows = [
    ['mcp/*', ['mcp/request:tools/call', 'mcp/response:tools/call:x', 'mcp/proposal:a'],
      ['chat', 'mcpx/request:a']],
    ['mcp/request:*', ['mcp/request:tools/call:rm', 'mcp/request:ping'],
      ['mcp/response:ping', 'mcp/requestX:a']],
    ['mcp/request:tools/*', ['mcp/request:tools/list', 'mcp/request:tools/call:x'],
      ['mcp/request:toolsX']],
    ['mcp/request:*/list', ['mcp/request:tools/list', 'mcp/request:resources/templates/list'],
      ['mcp/request:tools/call:evil/list']],
    ['mcp/request:tools/call', ['mcp/request:tools/call', 'mcp/request:tools/call:read_file'],
      ['mcp/request:tools/callX', 'mcp/request:tools/callX:y']],
    ['mcp/request:tools/call:*', ['mcp/request:tools/call', 'mcp/request:tools/call:read_file'],
      ['mcp/request:tools/callX', 'mcp/request:tools/callX:y']],
    ['mcp/request:tools/call:write_*',
      ['mcp/request:tools/call:write_file', 'mcp/request:tools/call:write_'],
      ['mcp/request:tools/call', 'mcp/request:tools/call:rewrite_file']],
    ['mcp/request:resources/read:file:///srv/*', ['mcp/request:resources/read:file:///srv/a/b'],
      ['mcp/request:resources/read:file:///srv/../etc/passwd',
        'mcp/request:resources/read:file:///srv/%2e%2e/x']],
    ['chat', ['chat'], ['chat:x', 'chat/acknowledge']],
    ['mcp/request:a.c', ['mcp/request:a.c'], ['mcp/request:abc']],
  ];
  const room = new Room(t, router);
  for (const [n, [pattern, yes, no]] of rows.entries()) {
    const one = await room.join(`row-${n}`, [pattern]);
    for (const kind of yes) await one.untilId(one.send(kind));
    for (const kind of no) {
      const { attempted_kind: attempted } = await one.untilRefused(one.send(kind));
      assert.equal(attempted, kind, pattern);
    }
    assert.equal(one.heard().filter(({ kind }) => yes.includes(kind)).length, yes.length, pattern);
    await one.close();
  }
});

test('duplicate_id: an id is used once, whoever used it', async (t) => {
  const { sender, witness, refuse } = await stage(t);
  sender.send('chat', { first: true }, { id: 'bad-1' });
  await witness.untilId('bad-1');
  const mine = await refuse(text(), 'the same id');
  assert.equal(mine.payload.error, 'duplicate_id');
  assert.equal(mine.correlation_id, 'bad-1');
  const escaped = await refuse(text({ id: '"b\\u0061d-1"' }), 'the same id, escaped');
  assert.equal(escaped.payload.error, 'duplicate_id');
  const theirs = witness.send('chat', {});
  await Promise.all([sender, witness].map((one) => one.untilId(theirs)));
  const other = await refuse(text({ id: quoted(theirs) }), 'the id of another');
  assert.equal(other.payload.error, 'duplicate_id');
});

test('a refused envelope leaves no trace: its id is free and nothing derives from it', async (t) => {
  const { sender, witness, refuse } = await stage(t, ['chat', 'mcp/response:*']);
  await refuse(text({ kind: '"mcp/request:tools/call:rm"' }), 'refused');
  const id = sender.send('mcp/response:tools/call', {}, { correlation_id: 'bad-1' });
  const { envelope } = await witness.untilId(id);
  assert.equal(envelope.kind, 'mcp/response:tools/call');
  await witness.untilId(sender.send('chat', {}, { id: 'bad-1' }));
});

test('text that is not UTF-8 reaches nobody and ends the connection with 1007', async (t) => {
  const { room, sender, witness } = await stage(t);
  const since = witness.received.length;
  const bytes = Buffer.concat([Buffer.from('{"protocol":"mcpx/v0.1","id":"u","kind":"chat","payload":{"a":"'),
    Buffer.from([0xc3, 0x28]), Buffer.from('"}}')]);
  sender.sendText(bytes, { binary: false });
  assert.equal((await sender.untilClosed()).code, 1007);
  await room.settle(witness);
  assert.ok(!witness.heard(since).some(({ from }) => from === 'sender'));
});

test('a message in fragments, with a ping between them, is one message', async (t) => {
  const { sender, witness } = await stage(t);
  const whole = text({ id: '"in-parts"', payload: '{"text":"äöü 🦊"}' });
  const bytes = Buffer.from(whole);
  const cut = bytes.indexOf(0xf0) + 2; /* in the middle of a character */
  sender.sendText(bytes.subarray(0, 5), { binary: false, fin: false });
  await sender.ping();
  sender.sendText(bytes.subarray(5, cut), { binary: false, fin: false });
  sender.sendText(bytes.subarray(cut), { binary: false, fin: true });
  const { envelope } = await witness.untilId('in-parts');
  assert.equal(envelope.payload.text, 'äöü 🦊');
});

test('a message of nearly a megabyte arrives as it was sent', async (t) => {
  const { sender, witness } = await stage(t);
  const payload = `{"big":"${'0123456789abcdef'.repeat(60000)}"}`;
  sender.sendText(text({ id: '"large"', payload }));
  const { raw } = await witness.untilId('large');
  assert.ok(raw.includes(payload));
});

describe('limits', () => {
  test('rate_limited: it is said how long to wait, and the connection goes on', async (t) => {
    const slow = await Router.startFor(t, { args: ['--dev'],
      config: { limits: { messages_per_minute: 60 } } });
    const room = new Room(t, slow);
    const eager = await room.join('eager', ['chat']);
    for (let n = 0; n < 200; n++) eager.send('chat', { n });
    const { envelope } = await eager.until((e) => e.kind === 'system/error', 'a refusal');
    assert.equal(envelope.payload.error, 'rate_limited');
    assert.ok(envelope.payload.retry_after_ms > 0 && envelope.payload.retry_after_ms <= 60000);
    assert.equal(typeof envelope.correlation_id, 'string');
    assert.equal(eager.closed, undefined);
  });

  test('slow_consumer: who does not read loses the connection, the others lose nothing', async (t) => {
    const strict = await Router.startFor(t, { args: ['--dev'],
      config: { limits: { backlog_bytes: 1048576 }, topics: { history: { bytes: 1048576 } } } });
    const room = new Room(t, strict);
    const speaker = await room.join('speaker', ['chat']);
    const reader = await room.join('reader', []);
    const sleeper = await room.join('sleeper', []);
    sleeper.pause();
    const filler = 'x'.repeat(250000);
    let n = 0;
    const left = reader.until((e) => e.kind === 'system/presence' && e.payload.event === 'leave'
      && e.payload.participant.id === 'sleeper', 'the sleeper to leave').then(() => { n = Infinity; });
    let said = 0;
    while (n < 200) { /* sockets hold megabytes; so speak until it has happened */
      said += 1;
      await reader.untilId(speaker.send('chat', { n: n++, filler }));
    }
    await left;
    const heard = reader.heard().filter(({ kind }) => kind === 'chat');
    assert.deepEqual(heard.map(({ payload }) => payload.n), Array.from({ length: said }, (_, i) => i));

    sleeper.resume();
    assert.equal((await sleeper.untilClosed()).code, 4003);
    const { payload } = sleeper.received.at(-1).envelope;
    assert.equal(payload.error, 'slow_consumer');
    assert.ok(payload.missed > 0);
    const before = sleeper.heard().filter(({ kind }) => kind === 'chat').map((e) => e.payload.n);
    assert.deepEqual(before, before.map((_, i) => i), 'up to there nothing is missing');
  });

  test('a message that is too big is answered and ends the connection with 1009', async (t) => {
    const small = await Router.startFor(t, { args: ['--dev'], config: { limits: { message_bytes: 4096 } } });
    const room = new Room(t, small);
    const witness = await room.join('witness', ['chat']);
    const big = await room.join('big', ['chat']);
    const fits = big.send('chat', { x: 'y'.repeat(3000) });
    await witness.untilId(fits);
    const since = witness.received.length;
    big.send('chat', { x: 'y'.repeat(5000) });
    assert.equal((await big.untilClosed()).code, 1009);
    const { payload } = big.received.map(({ envelope }) => envelope)
      .find(({ kind }) => kind === 'system/error');
    assert.equal(payload.error, 'invalid_envelope');
    assert.equal(payload.offset, 4096);
    await witness.until((e) => e.kind === 'system/presence' && e.payload.event === 'leave', 'leave');
    assert.deepEqual(witness.heard(since), []);
  });
});
