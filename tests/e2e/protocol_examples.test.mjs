/*
 * The story: a participant sends everything a confused or malicious program might send. Each
 * time it is told what was wrong, where, and about which envelope; nobody else receives a thing;
 * its connection goes on. Text is put on the wire by hand here: a well-behaved library could not
 * produce most of it. Protocol: sections 1, 2 and 6, row by row.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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
  return { sender, witness, refuse };
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
