/*
 * The story: somebody is lent a right for an hour, loses one at once, or is shown the door, while
 * everybody goes on talking. What breaks for whom: a right that was taken away still works for one
 * more message, a lent one lasts for ever, or somebody gives away what is not theirs.
 * Protocol: section 8.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Participant, Refused } from './lib/participant.mjs';
import { programBinary } from './lib/program.mjs';
import { Room } from './lib/room.mjs';
import { DEADLINE_MS, eventually, Router, sha256 } from './lib/router.mjs';

const RM = 'mcp/request:tools/call:rm';
let router;
before(async () => { router = await Router.start(); });
after(() => router?.stop());

const path = (id) => `/admin/participants/${encodeURIComponent(id)}`;

/** Asks as a participant with these capabilities; the answer of the router. */
async function asks(room, method, target, { as = 'root', can = ['admin/*'], body } = {}) {
  const token = await router.token(as, room.topic, can);
  return router.request(method, target, { token, body });
}

const change = (room, id, body, who) => asks(room, 'POST', `${path(id)}/capabilities`,
  { ...who, body: { topic: room.topic, ...body } });

const kick = (room, id, query = '', who) => asks(room, 'DELETE',
  `${path(id)}?topic=${encodeURIComponent(room.topic)}${query}`, who);

async function changed(...args) {
  const answer = await change(...args);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Was it delivered? The participant is told in either case. */
async function passes(one, kind, to) {
  const id = one.send(kind, {}, to ? { to } : {});
  const { envelope } = await one.until((heard) => heard.id === id
    || heard.correlation_id === id, `what becomes of ${kind}`);
  return envelope.id === id;
}

test('a right is there for the very next message, and gone for the very next', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat']);
  const eve = await room.join('eve', ['chat']);
  assert.equal(await passes(bob, RM), false);
  const given = await changed(room, 'bob', { add: [RM], until: 600 });
  assert.equal(given.participantId, 'bob');
  assert.deepEqual(given.oldCapabilities, ['chat']);
  assert.deepEqual(given.newCapabilities, ['chat', RM]);
  assert.equal(given.modifiedBy, 'root');
  assert.ok(Math.abs(Date.parse(given.modifiedAt) - Date.now()) < 60000);
  assert.equal(given.connections, 1);
  assert.equal(await passes(bob, RM), true);
  const told = (message) => message.kind === 'system/presence'
    && message.payload.event === 'update' && message.payload.participant.id === 'bob';
  const update = await eve.until(told, 'the update');
  assert.deepEqual(update.envelope.payload.participant.capabilities, ['chat', RM]);
  const welcome = await bob.until((message) => message.kind === 'system/welcome'
    && message.payload.you.capabilities.includes(RM), 'a new welcome');
  assert.equal(welcome.envelope.payload.you.grants[1].kind, RM);
  const taken = await changed(room, 'bob', { remove: [RM] });
  assert.deepEqual(taken.newCapabilities, ['chat']);
  assert.equal(await passes(bob, RM), false);
  assert.equal(await passes(bob, 'chat'), true);
});

test('what the configuration grants can be taken away, and comes back', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['mcp/*', 'chat']);
  assert.equal(await passes(bob, RM), true);
  const taken = await changed(room, 'bob', { remove: [RM] });
  assert.deepEqual(taken.denied, [RM]);
  assert.equal(await passes(bob, RM), false);
  assert.equal(await passes(bob, 'mcp/request:tools/call:ls'), true);
  /* Denials win over whatever is added. */
  const narrower = await change(room, 'bob', { add: [{ kind: RM, to: ['files'] }] });
  assert.equal(narrower.status, 403, narrower.text);
  assert.match(narrower.json.detail, /denied by/);
  await changed(room, 'bob', { add: ['mcp/request:*'] });
  assert.equal(await passes(bob, RM), false);
  const back = await changed(room, 'bob', { add: [RM] });
  assert.deepEqual(back.denied, []);
  assert.equal(await passes(bob, RM), true);
});

test('who is not there has it on coming, with each instance, and in this topic alone', async (t) => {
  const room = new Room(t, router);
  const other = new Room(t, router);
  const later = await changed(room, 'late', { add: [RM] });
  assert.equal(later.known, false);
  const one = await room.join('late', ['chat'], { query: { instance: 'auto' } });
  const two = await room.join('late', ['chat'], { query: { instance: 'auto' } });
  assert.notEqual(one.id, two.id);
  for (const each of [one, two]) {
    assert.deepEqual(each.welcome.payload.you.capabilities, ['chat', RM]);
    assert.equal(await passes(each, RM), true);
  }
  assert.equal((await changed(room, 'late', { remove: ['chat'] })).connections, 2);
  for (const each of [one, two]) assert.equal(await passes(each, 'chat'), false);
  const elsewhere = await other.join('late', ['chat']);
  assert.equal(await passes(elsewhere, RM), false);
  assert.equal(await passes(elsewhere, 'chat'), true);
  /* An instance stands for its participant. */
  assert.equal((await changed(room, 'late~2', { add: ['chat'] })).participantId, 'late');
  assert.equal(await passes(one, 'chat'), true);
});

test('a right ends by itself, and so does a removal', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat', 'mcp/response:*']);
  await changed(room, 'bob', { add: [RM], remove: ['chat'], until: 1 });
  assert.equal(await passes(bob, 'chat'), false);
  const since = bob.received.length;
  await bob.until((message) => message.kind === 'system/welcome'
    && !message.payload.you.capabilities.includes(RM), 'a welcome without the grant', { since });
  assert.equal(await passes(bob, RM), false);
  await eventually(() => passes(bob, 'chat'), 'the removal ends');
});

test('a preview changes nothing', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat']);
  const answer = await asks(room, 'POST', `${path('bob')}/capabilities?dry_run=1`,
    { body: { topic: room.topic, add: [RM] } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.dryRun, true);
  assert.deepEqual(answer.json.newCapabilities, ['chat', RM]);
  assert.equal(answer.json.connections, undefined);
  assert.equal(await passes(bob, RM), false);
});

test('messages in flight are judged by the old grants or the new, in one place', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat']);
  for (let round = 0; round < 5; round++) {
    const ids = [];
    const send = () => { for (let n = 0; n < 50; n++) ids.push(bob.send(RM, { n })); };
    send();
    const answered = changed(room, 'bob', round % 2 ? { remove: [RM] } : { add: [RM] });
    send();
    await answered;
    const last = bob.send(RM, {});
    ids.push(last);
    await bob.until((message) => message.id === last || message.correlation_id === last, 'the last');
    const verdicts = ids.map((id) => (bob.heard().some((message) => message.id === id) ? '+' : '-'));
    assert.match(verdicts.join(''), round % 2 ? /^\+*-+$/ : /^-*\++$/);
  }
});

test('nobody gives what they do not have', async (t) => {
  const room = new Room(t, router);
  await room.join('bob', ['chat']);
  await room.join('chief', ['admin/*', 'chat']);
  const rows = [
    /* what the giver has, to whom, what is given, the answer */
    [['chat'], 'bob', { add: ['chat'] }, 403, /admin\/grant/],
    [['admin/read', 'chat'], 'bob', { add: ['chat'] }, 403, /admin\/grant/],
    [['admin/grant', 'chat'], 'bob', { add: ['chat'] }, 200],
    [['admin/grant', 'chat'], 'bob', { add: [RM] }, 403, /do not cover/],
    [['admin/grant', 'mcp/request:tools/call:r*'], 'bob', { add: [RM] }, 200],
    [['admin/grant', 'mcp/request:tools/call:r*'], 'bob', { add: ['mcp/request:tools/call:*'] }, 403],
    [['admin/grant', 'mcp/request:tools/call:r*'], 'bob', { add: ['mcp/request:tools/call'] }, 403],
    [['admin/grant', 'mcp/*'], 'bob', { add: ['*'] }, 403],
    [['admin/grant', 'mcp/*'], 'bob', { add: ['mc*'] }, 403],
    [['admin/grant', 'mcp/request:*'], 'bob', { add: ['mcp/*'] }, 403],
    [['admin/grant', { kind: 'chat', to: ['ann'] }], 'bob', { add: ['chat'] }, 403, /addressees/],
    [['admin/grant', { kind: 'chat', to: ['ann'] }], 'bob',
      { add: [{ kind: 'chat', to: ['ann', 'bob'] }] }, 403],
    [['admin/grant', { kind: 'chat', to: ['ann'] }], 'bob', { add: [{ kind: 'chat', to: ['ann'] }] }, 200],
    [['admin/grant'], 'mallory', { add: ['admin/*'] }, 403],
    [['admin/grant'], 'mallory', { add: ['admin/kick'] }, 403],
    [['admin/grant', 'admin/grant'], 'mallory', { add: ['admin/grant'] }, 200],
    [['admin/grant', 'chat'], 'mallory', { add: ['chat'], until: 86400 }, 403, /not longer/],
    [['admin/grant', 'chat'], 'nobody-knows', { add: ['chat'] }, 403, /neither configured/],
    [['admin/grant', 'chat'], 'chief', { remove: ['admin/*'] }, 403, /admin\/\*/],
    [['*'], 'chief', { remove: ['chat'] }, 200],
    [['admin/*'], 'chief', { add: ['chat'] }, 200],
    [['admin/*'], 'bob', { add: ['mcp/*'] }, 200],
  ];
  await room.join('mallory', ['admin/grant']);
  for (const [can, id, body, status, says] of rows) {
    const answer = await change(room, id, body, { as: 'mallory', can });
    const row = JSON.stringify([can, id, body]);
    assert.equal(answer.status, status, `${row}: ${answer.text}`);
    if (says) assert.match(answer.json.detail, says, row);
    if (status === 403) assert.equal(answer.json.code, 'capability_violation', row);
  }
});

test('what was removed from somebody cannot be taken back by them', async (t) => {
  const room = new Room(t, router);
  const can = ['admin/grant', 'mcp/*'];
  const bob = await room.join('bob', can);
  await changed(room, 'bob', { remove: [RM] });
  for (const body of [{ add: [RM] }, { add: ['mcp/request:*'] }, { add: ['mcp/*'] },
    { add: ['mcp/request:tools/call'] }]) {
    const answer = await change(room, 'bob', body, { as: 'bob', can });
    assert.equal(answer.status, 403, `${JSON.stringify(body)}: ${answer.text}`);
  }
  /* Nor by making the removal shorter. */
  await changed(room, 'bob', { remove: [RM], until: 1 }, { as: 'bob', can });
  const { changes } = await changed(room, 'bob', { remove: [RM] }, { as: 'bob', can });
  assert.equal(changes[0].until, undefined);
  assert.equal(await passes(bob, RM), false);
});

test('a lent right has an end that adding it again does not move', async (t) => {
  const room = new Room(t, router);
  await room.join('bob', ['chat']);
  const { changes } = await changed(room, 'bob', { add: [RM] });
  const end = Date.parse(changes[0].until);
  assert.ok(Math.abs(end - Date.now() - 8 * 3600e3) < 60000);
  const again = await changed(room, 'bob', { add: [RM] });
  assert.equal(Date.parse(again.changes[0].until), end, 'counted from the first time');
  const late = await change(room, 'bob', { add: [RM], until: new Date(end + 1000).toISOString() });
  assert.equal(late.status, 403, late.text);
  assert.match(late.json.detail, /admin\.grant_max_s/);
});

test('the log has the end of each right, also where they differ by addressees only', async (t) => {
  const room = new Room(t, router);
  const at = (hours) => new Date(Math.ceil(Date.now() / 1000) * 1000 + hours * 3600e3).toISOString();
  const add = [{ kind: 'chat', to: ['amy'], expires: at(1) }, { kind: 'chat', to: ['ben'], expires: at(2) }];
  await changed(room, 'lender', { add });
  const ends = () => [...router.log.matchAll(/event=granted participant="lender".* until="([^"]*)"/g)]
    .map(([, until]) => Date.parse(until));
  await eventually(() => ends().length === 2, 'the two lines');
  assert.deepEqual(ends(), add.map(({ expires }) => Date.parse(expires)));
});

test('bad requests are told what is wrong', async (t) => {
  const room = new Room(t, router);
  const rows = [
    [{}, 400, 'bad_request', /add or remove/],
    [{ add: [] }, 400, 'bad_request', /add or remove/],
    [{ add: 'chat' }, 400, 'bad_request', /add must be/],
    [{ add: ['chat', 'a::b'] }, 400, 'invalid_pattern', /add\[1\]/],
    [{ add: [{ kind: 'chat', to: [] }] }, 400, 'bad_request', /add\[0\]/],
    [{ remove: [7] }, 400, 'bad_request', /remove\[0\]/],
    [{ add: Array(65).fill('chat') }, 400, 'bad_request', /at most 64/],
    [{ add: ['chat'], until: 'tomorrow' }, 400, 'bad_request', /until/],
    [{ add: ['chat'], until: -1 }, 400, 'bad_request', /until/],
    [{ add: ['chat'], until: '2001-01-01T00:00:00Z' }, 400, 'bad_request', /past/],
    [{ topic: '', add: ['chat'] }, 400, 'bad_topic', /topic/],
    [{ topic: 'elsewhere', add: ['chat'] }, 403, 'forbidden', /topic/],
  ];
  for (const [body, status, code, says] of rows) {
    const answer = await change(room, 'bob', body);
    assert.equal(answer.status, status, `${JSON.stringify(body)}: ${answer.text}`);
    assert.equal(answer.json.code, code, JSON.stringify(body));
    assert.match(answer.json.detail, says, JSON.stringify(body));
  }
  const token = await router.token('root', room.topic, ['admin/*']);
  const raw = async (id, text) => {
    const response = await fetch(`${router.http}/admin/participants/${id}/capabilities`,
      { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: text });
    return [response.status, await response.json()];
  };
  const body = `{"topic":"${room.topic}","add":["chat"],"add":["*"]}`;
  assert.match((await raw('bob', body))[1].detail, /twice/);
  const fine = JSON.stringify({ topic: room.topic, add: ['chat'] });
  assert.equal((await raw('%73ystem', fine))[0], 400);
  assert.equal((await raw('%zz', fine))[0], 400);
  assert.equal((await raw('a%00b', fine))[0], 400);
  assert.equal((await raw('a%2Fb', fine))[1].participantId, 'a/b');
  assert.equal((await raw('%E4%BA%BA', fine))[1].participantId, '人');
});

test('names are names: a star in one means nothing', async (t) => {
  const room = new Room(t, router);
  const star = await room.join('b*', ['chat']);
  const bob = await room.join('bob', ['chat']);
  await changed(room, 'b*', { add: [RM] });
  assert.equal(await passes(star, RM), true);
  assert.equal(await passes(bob, RM), false);
});

test('who is removed is told 4004 and why, with all instances, and may come back', async (t) => {
  const room = new Room(t, router);
  const eve = await room.join('eve', ['chat']);
  const many = [];
  for (let n = 0; n < 10; n++) {
    many.push(await room.join('bob', ['chat'], { query: { instance: 'auto' } }));
  }
  const other = new Room(t, router);
  const elsewhere = await other.join('bob', ['chat']);
  const token = await router.token('bob', room.topic, ['chat']);
  const sold = await router.request('POST', '/v0.1/tickets', { token, body: { topic: room.topic } });
  const preview = await kick(room, 'bob', '&dry_run=1');
  assert.equal(preview.json.connections, 10);
  const { status, json, text } = await kick(room, 'bob');
  assert.equal(status, 200, text);
  assert.equal(json.connections, 10);
  assert.equal(json.tickets, 1);
  for (const each of many) {
    const end = await each.untilClosed();
    assert.equal(end.code, 4004);
    assert.equal(String(end.reason), 'removed by an administrator');
  }
  await eve.until((message) => message.payload?.event === 'leave'
    && message.payload.participant.id === 'bob' && message.payload.reason === 'kicked', 'the leave');
  await assert.rejects(Participant.join(router,
    { topic: room.topic, query: { ticket: sold.json.ticket }, authorization: false }), Refused);
  assert.equal(await passes(elsewhere, 'chat'), true);
  const back = await room.join('bob', ['chat'], { query: { instance: 'auto' } });
  assert.equal(await passes(back, 'chat'), true);
});

test('who is kept out does not let itself in again, nor reads along', async (t) => {
  const room = new Room(t, router);
  const can = ['admin/kick', 'admin/grant', 'chat'];
  const mallory = await room.join('mallory', can);
  await new Room(t, router).join('mallory', can);
  await room.join('bob', ['chat']);
  assert.equal((await kick(room, 'mallory', '&for=3600')).status, 200);
  assert.equal((await mallory.untilClosed()).code, 4004);
  const token = await router.token('mallory', room.topic, can);
  const history = `/v0.1/topics/${encodeURIComponent(room.topic)}/history`;
  const body = { topic: room.topic };
  for (const answer of [
    await kick(room, 'mallory', '&for=0', { as: 'mallory', can }),
    await kick(room, 'bob', '', { as: 'mallory', can }),
    await change(room, 'bob', { remove: ['chat'] }, { as: 'mallory', can }),
    await router.request('GET', history, { token }),
    await router.request('POST', '/v0.1/token', { token, body }),
    await router.request('POST', '/v0.1/tickets', { token, body }),
  ]) {
    assert.equal(answer.status, 403, answer.text);
    assert.equal(answer.json.code, 'kicked', answer.text);
  }
  await assert.rejects(room.join('mallory', can), Refused);
  assert.equal((await kick(room, 'mallory', '&for=0')).status, 200);
  assert.equal((await router.request('GET', history, { token })).status, 200);
});

test('a removal holds for all instances, whichever token each came with', async (t) => {
  for (const order of [[['chat'], ['mcp/*']], [['mcp/*'], ['chat']]]) {
    const room = new Room(t, router);
    const both = [];
    for (const can of order) both.push(await room.join('bob', can, { query: { instance: 'auto' } }));
    assert.deepEqual((await changed(room, 'bob', { remove: [RM] })).denied, [RM]);
    for (const each of both) assert.equal(await passes(each, RM), false);
  }
});

test('who may remove whom', async (t) => {
  const room = new Room(t, router);
  await room.join('bob', ['chat']);
  const chief = await room.join('chief', ['admin/*', 'chat']);
  const as = (can, who = 'mallory') => ({ as: who, can });
  assert.equal((await kick(room, 'bob', '', as(['chat', 'admin/grant']))).status, 403);
  assert.equal((await kick(room, 'chief', '', as(['admin/kick']))).status, 403);
  assert.equal((await kick(room, 'ghost', '', as(['admin/*']))).status, 404);
  assert.equal((await kick(room, 'bob', '&for=9x', as(['admin/*']))).status, 400);
  assert.equal((await asks(room, 'DELETE', `${path('bob')}?for=9`)).status, 400);
  assert.equal((await kick(room, 'bob', '', as(['admin/kick']))).status, 200);
  /* Oneself, and everywhere. */
  const everywhere = await asks(room, 'DELETE', path('chief'), as(['admin/*'], 'chief'));
  assert.equal(everywhere.json.connections, 1, everywhere.text);
  assert.equal((await chief.untilClosed()).code, 4004);
});

test('a fresh token brings back nothing that was taken away', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bob', ['chat']);
  const taken = await changed(room, 'bob', { add: ['x/lent'], remove: [RM] });
  assert.deepEqual(taken.denied, [RM], 'also where its present token does not give it');
  const token = await router.token('bob', room.topic, ['mcp/*', 'chat']);
  const renewed = await router.request('POST', '/v0.1/token', { token, body: { topic: room.topic, id: 'bob' } });
  assert.equal(renewed.status, 200, renewed.text);
  assert.deepEqual(renewed.json.connections, ['bob']);
  assert.equal(await passes(bob, RM), false);
  assert.equal(await passes(bob, 'x/lent'), true);
  assert.equal(await passes(bob, 'mcp/request:tools/call:ls'), true);
});

test('a decision is asked for as configured and as it is now', async (t) => {
  const room = new Room(t, router);
  await room.join('bob', ['chat']);
  await changed(room, 'bob', { add: [RM], remove: ['chat'] });
  const token = await router.token('bob', room.topic, ['chat']);
  const check = async (kind) => (await router.request('POST', '/v0.1/check',
    { token, body: { kind, topic: room.topic } })).json;
  const rm = await check(RM);
  assert.deepEqual([rm.allowed, rm.now.allowed, rm.now.grant], [false, true, RM]);
  const chat = await check('chat');
  assert.deepEqual([chat.allowed, chat.now.allowed, chat.now.reason], [true, false, 'denied']);
});

test('what was done stands in the log and in the metrics, and no name in the latter', async (t) => {
  const room = new Room(t, router, 'secret-room');
  await room.join('secret-person', ['chat']);
  await changed(room, 'secret-person', { add: [RM], until: 600 });
  await kick(room, 'secret-person');
  await eventually(() => /event=granted participant="secret-person".* by="root"/.test(router.log)
    && /event=kicked participant="secret-person".* by="root"/.test(router.log), () => router.log);
  const { text } = await router.get('/metrics');
  assert.match(text, /^mcpx_granted_total [1-9]/m);
  assert.match(text, /^mcpx_kicked_total [1-9]/m);
  assert.match(text, /^mcpx_closed_total\{code="kicked"\} [1-9]/m);
  assert.doesNotMatch(text, /secret/);
});

test('what one administrator changes is bounded, and another goes on', async (t) => {
  const room = new Room(t, router);
  const greedy = { as: 'greedy', can: ['*'] };
  const patterns = (n) => Array.from({ length: 64 }, (_, at) => `x/k${n}:${at}`);
  for (let n = 0; n < 32; n++) await changed(room, `full-${n}`, { add: patterns(n) }, greedy);
  const last = await change(room, 'one-more', { add: ['x/k'] }, greedy);
  assert.deepEqual([last.status, last.json.code], [429, 'share_used'], last.text);
  assert.match(last.json.detail, /2048 changes/);
  await changed(room, 'modest', { add: patterns(99) }, { as: 'another', can: ['*'] });
  await changed(room, 'full-0', { remove: ['x/*'] }, greedy);
});

test('a configured participant has its changes too; its topics stay', async (t) => {
  const own = await Router.start({ config: {
    participants: {
      root: { token_sha256: sha256('r'), topics: ['*'], grants: ['*'] },
      bob: { token_sha256: sha256('b'), topics: ['work'], grants: ['mcp/*'], deny: ['mcp/request:ping'] },
    },
  } });
  t.after(() => own.stop());
  const post = (id, body) => own.request('POST', `${path(id)}/capabilities`, { token: 'r', body });
  const bob = await Participant.join(own, { topic: 'work', token: 'b' });
  t.after(() => bob.close());
  assert.equal((await post('bob', { topic: 'play', add: ['chat'] })).status, 404);
  const denied = await post('bob', { topic: 'work', add: ['mcp/request:ping'] });
  assert.equal(denied.status, 403);
  assert.match(denied.json.detail, /denied by/);
  const fine = await post('bob', { topic: 'work', add: ['chat'], remove: ['mcp/*'] });
  assert.deepEqual(fine.json.newCapabilities, ['chat'], fine.text);
  assert.deepEqual(fine.json.oldCapabilities, ['mcp/*']);
  assert.equal(await passes(bob, 'chat'), true);
  assert.equal(await passes(bob, RM), false);
  await own.request('POST', `${path('bob')}/capabilities`, { token: 'r', body: { topic: 'work', add: ['mcp/*'] } });
  assert.equal(await passes(bob, RM), true);
});

test('who was given admin/* is guarded, also before it comes', async (t) => {
  const entry = (token, grants) => ({ token_sha256: sha256(token), topics: ['*'], grants });
  const own = await Router.start({ config: { participants: {
    root: entry('r', ['*']), helper: entry('h', ['admin/grant', 'admin/kick', 'chat']), bob: entry('b', ['chat']),
  } } });
  t.after(() => own.stop());
  const post = (token, body) => own.request('POST', `${path('bob')}/capabilities`,
    { token, body: { topic: 'work', ...body } });
  assert.equal((await post('h', { remove: ['chat'] })).status, 200);
  assert.equal((await post('r', { add: ['admin/*'] })).status, 200);
  for (const body of [{ remove: ['admin/*'] }, { add: [{ kind: 'chat', to: ['root'] }] }]) {
    const answer = await post('h', body);
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.json.detail, /who has admin\/\*/);
  }
  const kicked = await own.request('DELETE', `${path('bob')}?topic=work&for=60`, { token: 'h' });
  assert.equal(kicked.status, 403, kicked.text);
  assert.equal((await post('r', { remove: ['admin/*'] })).status, 200);
  assert.equal((await post('h', { add: ['chat'] })).status, 200);
});

test('what was changed survives that the configuration is read again', async (t) => {
  const config = (grants) => ({ participants: {
    root: { token_sha256: sha256('r'), topics: ['*'], grants: ['*'] },
    bob: { token_sha256: sha256('b'), topics: ['work'], grants },
  } });
  const own = await Router.start({ config: config(['mcp/*']) });
  t.after(() => own.stop());
  const bob = await Participant.join(own, { topic: 'work', token: 'b' });
  t.after(() => bob.close());
  await own.request('POST', `${path('bob')}/capabilities`,
    { token: 'r', body: { topic: 'work', add: ['x/lent'], remove: [RM] } });
  writeFileSync(join(own.folder, 'router.json'), JSON.stringify(config(['mcp/*', 'chat'])));
  const reloaded = await own.request('POST', '/admin/reload', { token: 'r', body: {} });
  assert.equal(reloaded.status, 200, reloaded.text);
  assert.equal(await passes(bob, 'chat'), true, 'as configured now');
  assert.equal(await passes(bob, RM), false);
  assert.equal(await passes(bob, 'x/lent'), true);
  assert.equal(await passes(bob, 'mcp/request:tools/call:ls'), true);
});

test('who is there, with what, is shown to those who may read it, in pages', async (t) => {
  const own = await Router.start({ config: {
    profiles: { speaker: { grants: ['chat'], deny: ['chat:x'] } },
    participants: {
      root: { token_sha256: sha256('r'), topics: ['*'], grants: ['admin/*'] },
      reader: { token_sha256: sha256('e'), topics: ['*'], grants: ['admin/read'] },
      bob: { token_sha256: sha256('b'), topics: ['work'], profile: 'speaker' },
      carol: { token_sha256: sha256('c'), topics: ['work', 'play'], grants: ['chat'] },
    },
  } });
  t.after(() => own.stop());
  own.secrets.push(sha256('r'), sha256('b'));
  const join = async (token, topic) => {
    const one = await Participant.join(own, { topic, token, query: { instance: 'auto' } });
    t.after(() => one.close());
  };
  await join('c', 'work');
  await join('c', 'work');
  await join('c', 'play');
  await own.request('POST', `${path('bob')}/capabilities`,
    { token: 'r', body: { topic: 'work', add: [RM], remove: ['chat'] } });
  const all = (await own.get('/admin/participants', 'e')).json;
  assert.deepEqual(all.participants.map(({ id }) => id), ['bob', 'carol', 'reader', 'root']);
  const [bob, carol] = all.participants;
  assert.deepEqual(bob.configured,
    { grants: ['chat'], deny: ['chat:x'], topics: ['work'], jwt: false });
  assert.equal(bob.connected, 0);
  assert.equal(bob.changed[0].topic, 'work');
  assert.deepEqual(bob.changed[0].changes.map((each) => [each.change, each.kind, each.by]),
    [['remove', 'chat', 'root'], ['add', RM, 'root']]);
  assert.equal(carol.connected, 3);
  assert.deepEqual(carol.connections.map(({ id, topic }) => `${id} ${topic}`).sort(),
    ['carol play', 'carol work', 'carol~2 work']);
  assert.equal(carol.connections[0].address, '127.0.0.1');
  assert.ok(Math.abs(Date.parse(carol.connections[0].since) - Date.now()) < 600000);
  const pages = [];
  for (let after = ''; after !== undefined;) {
    const { json } = await own.get(`/admin/participants?limit=1${after}`, 'e');
    pages.push(...json.participants.map(({ id }) => id));
    after = json.next === undefined ? undefined : `&after=${encodeURIComponent(json.next)}`;
  }
  assert.deepEqual(pages, ['bob', 'carol', 'reader', 'root']);
  assert.deepEqual((await own.get('/admin/topics', 'e')).json,
    { topics: [{ name: 'play', participants: 1 }, { name: 'work', participants: 2 }] });
  const policy = await own.get('/admin/policy?limit=2', 'e');
  assert.equal(typeof policy.json.rev, 'string');
  assert.deepEqual(policy.json.profiles, [{ name: 'speaker', grants: ['chat'], deny: ['chat:x'] }]);
  assert.deepEqual(policy.json.participants.map(({ id }) => id), ['bob', 'carol']);
  assert.equal(policy.json.next, 'carol');
  for (const secret of ['r', 'b', 'c']) assert.ok(!policy.text.includes(sha256(secret)));
  for (const what of ['participants', 'topics', 'policy']) {
    const refused = await own.get(`/admin/${what}`, 'c');
    assert.equal(refused.status, 403, what);
    assert.match(refused.json.detail, /admin\/read/, what);
    assert.equal((await own.get(`/admin/${what}`)).status, 401, what);
    assert.equal((await own.get(`/admin/${what}?limit=0`, 'e')).status, 400, what);
  }
});

test('the same from a terminal, with a preview', async (t) => {
  const room = new Room(t, router);
  const bob = await room.join('bo b*', ['chat']);
  const ctl = async (can, ...words) => {
    const token = await router.token('root', room.topic, can);
    const env = { ...process.env, MCPX_URL: router.url, MCPX_TOPIC: room.topic, MCPX_TOKEN: token };
    return new Promise((done) => {
      execFile(programBinary('mcpxctl'), words, { env, timeout: DEADLINE_MS },
        (error, stdout, stderr) => done({ code: error ? error.code : 0, stdout, stderr }));
    });
  };
  const preview = await ctl(['admin/*'], 'grant', 'bo b*', RM, '--until', '600', '--dry-run');
  assert.equal(preview.code, 0, preview.stderr);
  assert.match(preview.stdout, /^before {2}chat\nnow {5}chat, mcp\/request:tools\/call:rm$/m);
  assert.match(preview.stdout, /nothing was changed/);
  assert.doesNotMatch(preview.stdout, /nobody is/);
  const mistyped = await ctl(['admin/*'], 'grant', 'bob*', RM, '--dry-run');
  assert.match(mistyped.stdout, /^nobody is configured or connected there under this id$/m, mistyped.stderr);
  assert.equal(await passes(bob, RM), false);
  const given = await ctl(['admin/*'], 'grant', 'bo b*', RM, '--until', '600', '--to', 'files');
  assert.equal(given.code, 0, given.stderr);
  assert.match(given.stdout, /^ {2}add mcp\/request:tools\/call:rm {2}until 2\S+Z {2}by root$/m);
  assert.match(given.stdout, /^connections that have it now: 1$/m);
  assert.equal(await passes(bob, RM, ['files']), true);
  assert.equal(await passes(bob, RM), false);
  const taken = await ctl(['admin/*'], 'revoke', 'bo b*', RM, 'chat', '--json');
  assert.deepEqual(JSON.parse(taken.stdout).newCapabilities, [], taken.stderr);
  assert.equal(await passes(bob, 'chat'), false);
  const timid = await ctl(['admin/grant'], 'grant', 'bo b*', 'mcp/request:ping');
  assert.equal(timid.code, 3, timid.stderr);
  assert.match(timid.stderr, /your grants do not cover/);
  assert.equal((await ctl(['admin/*'], 'grant', 'bo b*', 'a::b')).code, 2);
  assert.equal((await ctl(['admin/*'], 'kick', 'ghost')).code, 4);
  assert.equal((await ctl(['admin/*'], 'kick', 'bo b*', '--everywhere', '--for', '9')).code, 2);
  const gone = await ctl(['admin/*'], 'kick', 'bo b*', '--for', '600');
  assert.match(gone.stdout, /^connections ended: 1\nkept out until 2\S+Z$/m, gone.stderr);
  assert.equal((await bob.untilClosed()).code, 4004);
});
