/*
 * The story: operators, browsers and clients written for the original gateway come over HTTP: to look, to
 * be let in, and to be turned away in a way they can act on. A refused upgrade has to be an HTTP answer,
 * since an upgraded and then closed connection leaves old clients hanging. Protocol: sections 7 and 8.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { validate } from '@hyperjump/json-schema/openapi-3-1';
import { Participant, Refused } from './lib/participant.mjs';
import { Room } from './lib/room.mjs';
import { Router } from './lib/router.mjs';

const router = await Router.startFor({ after });

/** Expects the connection attempt to be refused; returns the refusal. */
async function refused(seat, at = router) {
  let refusal;
  await assert.rejects(Participant.join(at, seat), (error) => {
    assert.ok(error instanceof Refused, String(error));
    refusal = error;
    return true;
  });
  assert.match(refusal.headers['content-type'], /^application\/problem\+json\b/);
  assert.equal(refusal.problem.status, refusal.status);
  return refusal;
}

test('the router says that it lives and is ready, without a token', async () => {
  const health = await router.get('/health');
  assert.equal(health.status, 200);
  assert.equal(health.json.status, 'healthy');
  assert.equal(health.json.protocol, 'mcpx/v0.1');
  for (const path of ['/livez', '/readyz']) assert.equal((await router.get(path)).status, 200, path);
});

test('the calls are described in OpenAPI, and ask for a token where it says so', async () => {
  const { json } = await router.get('/openapi.json');
  const verdict = await validate('https://spec.openapis.org/oas/3.1/schema-base', json, 'BASIC');
  assert.ok(verdict.valid, JSON.stringify(verdict.errors));
  assert.ok(json.paths['/v0.1/auth/token'], 'which is there in development mode');
  for (const [path, calls] of Object.entries(json.paths)) {
    for (const [method, { security }] of Object.entries(calls)) {
      const { status } = await router.request(method.toUpperCase(), path.replace(/\{.*\}/, 'x'));
      assert.equal(status === 401, security !== undefined, `${method} ${path}: ${status}`);
      assert.notEqual(status, 404, path);
    }
  }
});

test('metrics count and name no topic, tool or participant', async (t) => {
  const room = new Room(t, router, 'secret-room');
  const one = await room.join('secret-person', ['mcp/*', 'chat']);
  await one.untilId(one.send('mcp/request:tools/call:secret-tool'));
  const { status, type, text } = await router.get('/metrics');
  assert.equal(status, 200);
  assert.match(type, /^text\/plain\b/);
  assert.match(text, /^# TYPE mcpx_\w+ (counter|gauge|histogram)$/m);
  assert.match(text, /^mcpx_\w+(\{[^}]*\})? [1-9]/m);
  assert.doesNotMatch(text, /secret/);
});

test('one topic is closed to the token of another', async (t) => {
  const room = new Room(t, router);
  await room.join('one', ['chat']);
  const outsider = await router.token('outsider', 'elsewhere');
  for (const what of ['participants', 'history', 'rate-limit']) {
    const { status, json } = await router.get(`/v0.1/topics/${room.topic}/${what}`, outsider);
    assert.equal(status, 403, what);
    assert.equal(typeof json.error, 'string', what);
  }
  const nobody = await router.get(`/v0.1/topics/${room.topic}/participants`);
  assert.equal(nobody.status, 401);
  assert.match(nobody.headers.get('www-authenticate'), /^Bearer/);
});

test('a browser buys a ticket and comes in with it, once', async (t) => {
  const room = new Room(t, router);
  const token = await router.token('browser', room.topic, ['chat']);
  const sold = await router.request('POST', '/v0.1/tickets',
    { token, body: { topic: room.topic } });
  assert.ok(sold.status === 200 || sold.status === 201, String(sold.status));
  assert.equal(typeof sold.json.ticket, 'string');
  assert.ok(sold.json.expires_in > 0 && sold.json.expires_in <= 30);
  const query = { ticket: sold.json.ticket };
  const seat = { topic: room.topic, query, authorization: false };
  const browser = await room.join(undefined, undefined, seat);
  assert.equal(browser.id, 'browser');
  assert.deepEqual(browser.welcome.payload.you.capabilities, ['chat']);
  await browser.close();
  const again = await refused(seat);
  assert.equal(again.status, 401);
  assert.ok(!again.text.includes(query.ticket), 'the ticket is not echoed');
  router.secrets.push(query.ticket, token);
});

test('upgrades are refused before they happen, each with its status and code', async () => {
  const token = await router.token('one', 'here', ['chat']);
  const rows = [
    ['no topic', { token }, 400, 'bad_topic'],
    ['an empty topic', { token, topic: '' }, 400, 'bad_topic'],
    ['no token', { topic: 'here', authorization: false }, 401, 'unauthorized'],
    ['a token that is none', { topic: 'here', token: 'nonsense' }, 401, 'unauthorized'],
    ['a token cut short', { topic: 'here', token: token.slice(0, -4) }, 401, 'unauthorized'],
    ['a ticket nobody sold', { topic: 'here', authorization: false, query: { ticket: 'x' } },
      401, 'unauthorized'],
    ['another topic', { topic: 'there', token }, 403, 'forbidden'],
    ['a page of somebody else', { topic: 'here', token, headers: { origin: 'https://evil.example' } },
      403, 'origin_not_allowed'],
    ['a mode that is none', { topic: 'here', token, query: { routing: 'sideways' } },
      400, 'bad_request'],
  ];
  for (const [what, seat, status, code] of rows) {
    const refusal = await refused(seat);
    assert.equal(refusal.status, status, what);
    assert.equal(refusal.problem.code, code, what);
    if (status === 401) assert.match(refusal.headers['www-authenticate'], /^Bearer/, what);
    assert.ok(!seat.token || !refusal.text.includes(seat.token), what);
  }
});

test('a full, closed or occupied topic refuses with its own status', async (t) => {
  const rows = [
    ['no such topic', { topics: { create: false } }, ['a'], 404, 'no_such_topic'],
    ['a full topic', { topics: { participants: 2 } }, ['a', 'b', 'c'], 503, 'full'],
    ['no more topics', { topics: { max: 1 } }, ['a', 'b@elsewhere'], 503, 'full'],
    ['a full router', { limits: { connections: 2 } }, ['a', 'b', 'c'], 503, 'full'],
    ['somebody of that name', { auth: { duplicate: 'reject' } }, ['a', 'a'], 409, 'already_connected'],
    ['taken over too often', {}, ['a', 'a', 'a', 'a', 'a'], 409, 'too_many_takeovers'],
  ];
  for (const [what, config, arrivals, status, code] of rows) {
    const strict = await Router.start({ args: ['--dev'], config });
    const seats = arrivals.map((one) => one.split('@'))
      .map(([id, topic = 'here']) => ({ id, topic, capabilities: ['chat'] }));
    for (const seat of seats.slice(0, -1)) await Participant.join(strict, seat);
    const refusal = await refused(seats.at(-1), strict);
    assert.equal(refusal.status, status, `${what}: ${refusal.text}`);
    assert.equal(refusal.problem.code, code, what);
    if (status === 503) assert.ok(refusal.headers['retry-after'], what);
    await strict.stop();
  }
});
