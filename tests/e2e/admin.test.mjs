/*
 * The story: somebody is lent a right for an hour, loses one at once, or is shown the door, while
 * everybody goes on talking. What breaks for whom: a right that was taken away still works for one more
 * message, a lent one lasts for ever, or somebody gives away what is not theirs. Protocol: section 8.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AdminRoom, configured, good, pagesOf, pathOf, refused } from './lib/admin.mjs';
import { Participant, Refused } from './lib/participant.mjs';
import { ends } from './lib/program.mjs';
import { eventually, people, person, Router, sha256, tokenOf } from './lib/router.mjs';

const RM = 'mcp/request:tools/call:rm';
const router = await Router.startFor({ after });

/** A room with a bob who may do that. */
async function withBob(t, can = ['chat']) {
  const room = new AdminRoom(t, router);
  return { room, bob: await room.join('bob', can) };
}

test('a right is there for the very next message, and gone for the very next', async (t) => {
  const { room, bob } = await withBob(t);
  const eve = await room.join('eve', ['chat']);
  assert.equal(await bob.passes(RM), false);
  const given = await room.changed('bob', { add: [RM], until: 600 });
  assert.deepEqual([given.participantId, given.oldCapabilities, given.newCapabilities, given.modifiedBy, given.connections],
    ['bob', ['chat'], ['chat', RM], 'root', 1]);
  assert.ok(Math.abs(Date.parse(given.modifiedAt) - Date.now()) < 60000);
  assert.equal(await bob.passes(RM), true);
  const told = (message) => message.kind === 'system/presence'
    && message.payload.event === 'update' && message.payload.participant.id === 'bob';
  const update = await eve.until(told, 'the update');
  assert.deepEqual(update.envelope.payload.participant.capabilities, ['chat', RM]);
  const welcome = await bob.until((message) => message.kind === 'system/welcome'
    && message.payload.you.capabilities.includes(RM), 'a new welcome');
  assert.equal(welcome.envelope.payload.you.grants[1].kind, RM);
  const taken = await room.changed('bob', { remove: [RM] });
  assert.deepEqual(taken.newCapabilities, ['chat']);
  assert.equal(await bob.may(RM, 'chat'), '-+');
});

test('what the configuration grants can be taken away, and comes back', async (t) => {
  const { room, bob } = await withBob(t, ['mcp/*', 'chat']);
  assert.equal(await bob.passes(RM), true);
  const taken = await room.changed('bob', { remove: [RM] });
  assert.deepEqual(taken.denied, [RM]);
  assert.equal(await bob.may(RM, 'mcp/request:tools/call:ls'), '-+');
  /* Denials win over whatever is added. */
  await refused(room.change('bob', { add: [{ kind: RM, to: ['files'] }] }), 403, /denied by/);
  await room.changed('bob', { add: ['mcp/request:*'] });
  assert.equal(await bob.passes(RM), false);
  const back = await room.changed('bob', { add: [RM] });
  assert.deepEqual(back.denied, []);
  assert.equal(await bob.passes(RM), true);
});

test('who is not there has it on coming, with each instance, and in this topic alone', async (t) => {
  const room = new AdminRoom(t, router);
  const other = new AdminRoom(t, router);
  const later = await room.changed('late', { add: [RM] });
  assert.equal(later.known, false);
  const one = await room.join('late', ['chat'], { query: { instance: 'auto' } });
  const two = await room.join('late', ['chat'], { query: { instance: 'auto' } });
  assert.notEqual(one.id, two.id);
  for (const each of [one, two]) {
    assert.deepEqual(each.welcome.payload.you.capabilities, ['chat', RM]);
    assert.equal(await each.passes(RM), true);
  }
  assert.equal((await room.changed('late', { remove: ['chat'] })).connections, 2);
  for (const each of [one, two]) assert.equal(await each.passes('chat'), false);
  const elsewhere = await other.join('late', ['chat']);
  assert.equal(await elsewhere.may(RM, 'chat'), '-+');
  /* An instance stands for its participant. */
  assert.equal((await room.changed('late~2', { add: ['chat'] })).participantId, 'late');
  assert.equal(await one.passes('chat'), true);
});

test('a right ends by itself, and so does a removal', async (t) => {
  const { room, bob } = await withBob(t, ['chat', 'mcp/response:*']);
  await room.changed('bob', { add: [RM], remove: ['chat'], until: 1 });
  assert.equal(await bob.passes('chat'), false);
  const since = bob.received.length;
  await bob.until((message) => message.kind === 'system/welcome'
    && !message.payload.you.capabilities.includes(RM), 'a welcome without the grant', { since });
  assert.equal(await bob.passes(RM), false);
  await eventually(() => bob.passes('chat'), 'the removal ends');
});

test('a preview changes nothing', async (t) => {
  const { room, bob } = await withBob(t);
  const answer = room.asks('POST', `${pathOf('bob')}/capabilities?dry_run=1`,
    undefined, { topic: room.topic, add: [RM] });
  const { dryRun, newCapabilities, connections } = await good(answer);
  assert.deepEqual([dryRun, newCapabilities, connections], [true, ['chat', RM], undefined]);
  assert.equal(await bob.passes(RM), false);
});

test('messages in flight are judged by the old grants or the new, in one place', async (t) => {
  const { room, bob } = await withBob(t);
  for (let round = 0; round < 5; round++) {
    const ids = [];
    const send = () => { for (let n = 0; n < 50; n++) ids.push(bob.send(RM, { n })); };
    send();
    const answered = room.changed('bob', round % 2 ? { remove: [RM] } : { add: [RM] });
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
  const { room } = await withBob(t);
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
    const row = JSON.stringify([can, id, body]), answer = room.change(id, body, { as: 'mallory', can });
    if (status === 200) await good(answer);
    else assert.equal((await refused(answer, status, says, row)).code, 'capability_violation');
  }
});

test('what was removed from somebody cannot be taken back by them', async (t) => {
  const room = new AdminRoom(t, router);
  const can = ['admin/grant', 'mcp/*'];
  const bob = await room.join('bob', can);
  await room.changed('bob', { remove: [RM] });
  for (const body of [{ add: [RM] }, { add: ['mcp/request:*'] }, { add: ['mcp/*'] },
    { add: ['mcp/request:tools/call'] }]) {
    await refused(room.change('bob', body, { as: 'bob', can }), 403, undefined, JSON.stringify(body));
  }
  /* Nor by making the removal shorter. */
  await room.changed('bob', { remove: [RM], until: 1 }, { as: 'bob', can });
  const { changes } = await room.changed('bob', { remove: [RM] }, { as: 'bob', can });
  assert.equal(changes[0].until, undefined);
  assert.equal(await bob.passes(RM), false);
});

test('a lent right has an end that adding it again does not move', async (t) => {
  const { room } = await withBob(t);
  const { changes } = await room.changed('bob', { add: [RM] });
  const end = Date.parse(changes[0].until);
  assert.ok(Math.abs(end - Date.now() - 8 * 3600e3) < 60000);
  const again = await room.changed('bob', { add: [RM] });
  assert.equal(Date.parse(again.changes[0].until), end, 'counted from the first time');
  await refused(room.change('bob', { add: [RM], until: new Date(end + 1000).toISOString() }),
    403, /admin\.grant_max_s/);
});

test('the log has the end of each right, also where they differ by addressees only', async (t) => {
  const room = new AdminRoom(t, router);
  const at = (hours) => new Date(Math.ceil(Date.now() / 1000) * 1000 + hours * 3600e3).toISOString();
  const add = [{ kind: 'chat', to: ['amy'], expires: at(1) }, { kind: 'chat', to: ['ben'], expires: at(2) }];
  await room.changed('lender', { add });
  const ends = () => [...router.log.matchAll(/event=granted participant="lender".* until="([^"]*)"/g)]
    .map(([, until]) => Date.parse(until));
  await eventually(() => ends().length === 2, 'the two lines');
  assert.deepEqual(ends(), add.map(({ expires }) => Date.parse(expires)));
});

test('bad requests are told what is wrong', async (t) => {
  const room = new AdminRoom(t, router);
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
    const row = JSON.stringify(body);
    assert.equal((await refused(room.change('bob', body), status, says, row)).code, code, row);
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
  const room = new AdminRoom(t, router);
  const star = await room.join('b*', ['chat']);
  const bob = await room.join('bob', ['chat']);
  await room.changed('b*', { add: [RM] });
  assert.equal(await star.passes(RM), true);
  assert.equal(await bob.passes(RM), false);
});

test('who is removed is told 4004 and why, with all instances, and may come back', async (t) => {
  const room = new AdminRoom(t, router);
  const eve = await room.join('eve', ['chat']);
  const many = [];
  for (let n = 0; n < 10; n++) {
    many.push(await room.join('bob', ['chat'], { query: { instance: 'auto' } }));
  }
  const other = new AdminRoom(t, router);
  const elsewhere = await other.join('bob', ['chat']);
  const token = await router.token('bob', room.topic, ['chat']);
  const sold = await router.request('POST', '/v0.1/tickets', { token, body: { topic: room.topic } });
  const preview = await room.kick('bob', '&dry_run=1');
  assert.equal(preview.json.connections, 10);
  const { connections, tickets } = await good(room.kick('bob'));
  assert.deepEqual([connections, tickets], [10, 1]);
  for (const each of many) {
    const end = await each.untilClosed();
    assert.equal(end.code, 4004);
    assert.equal(String(end.reason), 'removed by an administrator');
  }
  await eve.until((message) => message.payload?.event === 'leave'
    && message.payload.participant.id === 'bob' && message.payload.reason === 'kicked', 'the leave');
  await assert.rejects(Participant.join(router,
    { topic: room.topic, query: { ticket: sold.json.ticket }, authorization: false }), Refused);
  assert.equal(await elsewhere.passes('chat'), true);
  const back = await room.join('bob', ['chat'], { query: { instance: 'auto' } });
  assert.equal(await back.passes('chat'), true);
});

test('who is kept out does not let itself in again, nor reads along', async (t) => {
  const room = new AdminRoom(t, router);
  const can = ['admin/kick', 'admin/grant', 'chat'];
  const mallory = await room.join('mallory', can);
  await new AdminRoom(t, router).join('mallory', can);
  await room.join('bob', ['chat']);
  await good(room.kick('mallory', '&for=3600'));
  assert.equal((await mallory.untilClosed()).code, 4004);
  const token = await router.token('mallory', room.topic, can);
  const history = `/v0.1/topics/${encodeURIComponent(room.topic)}/history`;
  const body = { topic: room.topic };
  for (const answer of [
    room.kick('mallory', '&for=0', { as: 'mallory', can }),
    room.kick('bob', '', { as: 'mallory', can }),
    room.change('bob', { remove: ['chat'] }, { as: 'mallory', can }),
    router.get(history, token),
    router.request('POST', '/v0.1/token', { token, body }),
    router.request('POST', '/v0.1/tickets', { token, body }),
  ]) assert.equal((await refused(answer, 403)).code, 'kicked');
  await assert.rejects(room.join('mallory', can), Refused);
  await good(room.kick('mallory', '&for=0'));
  await good(router.get(history, token));
});

test('a removal holds for all instances, whichever token each came with', async (t) => {
  for (const order of [[['chat'], ['mcp/*']], [['mcp/*'], ['chat']]]) {
    const room = new AdminRoom(t, router);
    const both = [];
    for (const can of order) both.push(await room.join('bob', can, { query: { instance: 'auto' } }));
    assert.deepEqual((await room.changed('bob', { remove: [RM] })).denied, [RM]);
    for (const each of both) assert.equal(await each.passes(RM), false);
  }
});

test('who may remove whom', async (t) => {
  const { room } = await withBob(t);
  const chief = await room.join('chief', ['admin/*', 'chat']);
  const as = (can, who = 'mallory') => ({ as: who, can });
  await refused(room.kick('bob', '', as(['chat', 'admin/grant'])), 403);
  await refused(room.kick('chief', '', as(['admin/kick'])), 403);
  await refused(room.kick('ghost', '', as(['admin/*'])), 404);
  await refused(room.kick('bob', '&for=9x', as(['admin/*'])), 400);
  await refused(room.asks('DELETE', `${pathOf('bob')}?for=9`), 400);
  await good(room.kick('bob', '', as(['admin/kick'])));
  /* Oneself, and everywhere. */
  const everywhere = await room.asks('DELETE', pathOf('chief'), as(['admin/*'], 'chief'));
  assert.equal(everywhere.json.connections, 1, everywhere.text);
  assert.equal((await chief.untilClosed()).code, 4004);
});

test('a fresh token brings back nothing that was taken away', async (t) => {
  const { room, bob } = await withBob(t);
  const taken = await room.changed('bob', { add: ['x/lent'], remove: [RM] });
  assert.deepEqual(taken.denied, [RM], 'also where its present token does not give it');
  const token = await router.token('bob', room.topic, ['mcp/*', 'chat']);
  const renewed = await good(router.request('POST', '/v0.1/token', { token, body: { topic: room.topic, id: 'bob' } }));
  assert.deepEqual(renewed.connections, ['bob']);
  assert.equal(await bob.may(RM, 'x/lent', 'mcp/request:tools/call:ls'), '-++');
});

test('a decision is asked for as configured and as it is now', async (t) => {
  const { room } = await withBob(t);
  await room.changed('bob', { add: [RM], remove: ['chat'] });
  const token = await router.token('bob', room.topic, ['chat']);
  const check = async (kind) => (await router.request('POST', '/v0.1/check',
    { token, body: { kind, topic: room.topic } })).json;
  const rm = await check(RM);
  assert.deepEqual([rm.allowed, rm.now.allowed, rm.now.grant], [false, true, RM]);
  const chat = await check('chat');
  assert.deepEqual([chat.allowed, chat.now.allowed, chat.now.reason], [true, false, 'denied']);
});

test('what was done stands in the log and in the metrics, and no name in the latter', async (t) => {
  const room = new AdminRoom(t, router, 'secret-room');
  await room.join('secret-person', ['chat']);
  await room.changed('secret-person', { add: [RM], until: 600 });
  await room.kick('secret-person');
  await eventually(() => /event=granted participant="secret-person".* by="root"/.test(router.log)
    && /event=kicked participant="secret-person".* by="root"/.test(router.log), () => router.log);
  const { text } = await router.get('/metrics');
  assert.match(text, /^mcpx_granted_total [1-9]/m);
  assert.match(text, /^mcpx_kicked_total [1-9]/m);
  assert.match(text, /^mcpx_closed_total\{code="kicked"\} [1-9]/m);
  assert.doesNotMatch(text, /secret/);
});

test('what one administrator changes is bounded, and another goes on', async (t) => {
  const room = new AdminRoom(t, router);
  const greedy = { as: 'greedy', can: ['*'] };
  const patterns = (n) => Array.from({ length: 64 }, (_, at) => `x/k${n}:${at}`);
  for (let n = 0; n < 32; n++) await room.changed(`full-${n}`, { add: patterns(n) }, greedy);
  const { code } = await refused(room.change('one-more', { add: ['x/k'] }, greedy), 429, /2048 changes/);
  assert.equal(code, 'share_used');
  await room.changed('modest', { add: patterns(99) }, { as: 'another', can: ['*'] });
  await room.changed('full-0', { remove: ['x/*'] }, greedy);
});

test('a configured participant has its changes too; its topics stay', async (t) => {
  const own = await configured(t, { participants: { root: person('root', ['*']),
    bob: person('bob', ['mcp/*'], { topics: ['work'], deny: ['mcp/request:ping'] }) } });
  const bob = await own.join('bob');
  await refused(own.change('bob', { topic: 'play', add: ['chat'] }), 404);
  await refused(own.change('bob', { add: ['mcp/request:ping'] }), 403, /denied by/);
  const fine = await good(own.change('bob', { add: ['chat'], remove: ['mcp/*'] }));
  assert.deepEqual([fine.newCapabilities, fine.oldCapabilities], [['chat'], ['mcp/*']]);
  assert.equal(await bob.may('chat', RM), '+-');
  await good(own.change('bob', { add: ['mcp/*'] }));
  assert.equal(await bob.passes(RM), true);
});

test('who was given admin/* is guarded, also before it comes', async (t) => {
  const own = await configured(t, { participants: people({ root: ['*'],
    helper: ['admin/grant', 'admin/kick', 'chat'], bob: ['chat'] }) });
  await good(own.change('bob', { remove: ['chat'] }, 'helper'));
  await good(own.change('bob', { add: ['admin/*'] }));
  for (const body of [{ remove: ['admin/*'] }, { add: [{ kind: 'chat', to: ['root'] }] }]) {
    await refused(own.change('bob', body, 'helper'), 403, /with admin\/\*/);
  }
  await refused(own.request('DELETE', `${pathOf('bob')}?topic=work&for=60`, { token: tokenOf('helper') }), 403);
  await good(own.change('bob', { remove: ['admin/*'] }));
  await good(own.change('bob', { add: ['chat'] }, 'helper'));
});

test('what was changed survives that the configuration is read again', async (t) => {
  const config = (grants) => ({ participants: people({ root: ['*'], bob: grants }) });
  const own = await configured(t, config(['mcp/*']));
  const bob = await own.join('bob');
  await good(own.change('bob', { add: ['x/lent'], remove: [RM] }));
  own.configure(config(['mcp/*', 'chat']));
  await good(own.reload(tokenOf('root')));
  assert.equal(await bob.passes('chat'), true, 'as configured now');
  assert.equal(await bob.may(RM, 'x/lent', 'mcp/request:tools/call:ls'), '-++');
});

test('who is there, with what, is shown to those who may read it, in pages', async (t) => {
  const own = await configured(t, {
    profiles: { speaker: { grants: ['chat'], deny: ['chat:x'] } },
    participants: { ...people({ root: ['admin/*'], reader: ['admin/read'] }),
      bob: person('bob', undefined, { topics: ['work'], profile: 'speaker' }),
      carol: person('carol', ['chat'], { topics: ['work', 'play'] }) },
  });
  const secrets = ['root', 'bob', 'carol'].map((id) => sha256(tokenOf(id)));
  own.secrets.push(...secrets);
  for (const topic of ['work', 'work', 'play']) await own.join('carol', { topic, query: { instance: 'auto' } });
  await good(own.change('bob', { add: [RM], remove: ['chat'] }));
  const read = (path) => own.get(path, tokenOf('reader'));
  const all = (await read('/admin/participants')).json;
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
  const pages = await pagesOf(own, '/admin/participants?limit=1', 'reader');
  assert.deepEqual(pages.map(({ json }) => json.participants.map(({ id }) => id)), [['bob'], ['carol'], ['reader'], ['root']]);
  assert.deepEqual((await read('/admin/topics')).json,
    { topics: [{ name: 'play', participants: 1 }, { name: 'work', participants: 2 }] });
  const policy = await read('/admin/policy?limit=2');
  assert.equal(typeof policy.json.rev, 'string');
  assert.deepEqual(policy.json.profiles, [{ name: 'speaker', grants: ['chat'], deny: ['chat:x'] }]);
  assert.deepEqual(policy.json.participants.map(({ id }) => id), ['bob', 'carol']);
  assert.equal(policy.json.next, 'carol');
  for (const secret of secrets) assert.ok(!policy.text.includes(secret));
  for (const what of ['participants', 'topics', 'policy']) {
    await refused(own.get(`/admin/${what}`, tokenOf('carol')), 403, /admin\/read/, what);
    assert.equal((await own.get(`/admin/${what}`)).status, 401, what);
    assert.equal((await read(`/admin/${what}?limit=0`)).status, 400, what);
  }
});

test('the same from a terminal, with a preview', async (t) => {
  const room = new AdminRoom(t, router);
  const bob = await room.join('bo b*', ['chat']);
  const ctl = (can, ...words) => room.ctl('root', can, ...words);
  const preview = await ends(ctl(['admin/*'], 'grant', 'bo b*', RM, '--until', '600', '--dry-run'),
    0, /^before {2}chat\nnow {5}chat, mcp\/request:tools\/call:rm$/m);
  assert.match(preview.stdout, /nothing was changed/);
  assert.doesNotMatch(preview.stdout, /nobody is/);
  const mistyped = await ctl(['admin/*'], 'grant', 'bob*', RM, '--dry-run');
  assert.match(mistyped.stdout, /^no participant with this id is configured or connected there$/m, mistyped.stderr);
  assert.equal(await bob.passes(RM), false);
  const given = await ends(ctl(['admin/*'], 'grant', 'bo b*', RM, '--until', '600', '--to', 'files'),
    0, /^ {2}add mcp\/request:tools\/call:rm {2}until 2\S+Z {2}by root$/m);
  assert.match(given.stdout, /^connections that have it now: 1$/m);
  assert.equal(await bob.passes(RM, ['files']), true);
  assert.equal(await bob.passes(RM), false);
  const taken = await ctl(['admin/*'], 'revoke', 'bo b*', RM, 'chat', '--json');
  assert.deepEqual(JSON.parse(taken.stdout).newCapabilities, [], taken.stderr);
  assert.equal(await bob.passes('chat'), false);
  await ends(ctl(['admin/grant'], 'grant', 'bo b*', 'mcp/request:ping'), 3, /your grants do not cover/);
  assert.equal((await ctl(['admin/*'], 'grant', 'bo b*', 'a::b')).code, 2);
  assert.equal((await ctl(['admin/*'], 'kick', 'ghost')).code, 4);
  assert.equal((await ctl(['admin/*'], 'kick', 'bo b*', '--everywhere', '--for', '9')).code, 2);
  const gone = await ctl(['admin/*'], 'kick', 'bo b*', '--for', '600');
  assert.match(gone.stdout, /^connections ended: 1\nbanned until 2\S+Z$/m, gone.stderr);
  assert.equal((await bob.untilClosed()).code, 4004);
});
