/*
 * admin.mjs - a room and who administrates it: what may be changed at run time, asked for as anybody
 * with any capabilities. Protocol: section 8.
 */
import assert from 'node:assert/strict';
import { Participant } from './participant.mjs';
import { Room } from './room.mjs';
import { Router, tokenOf } from './router.mjs';

export const pathOf = (id) => `/admin/participants/${encodeURIComponent(id)}`;

/** `who` in all of these: `{ as, can }`, an id and its capabilities; root with admin/* unless given. */
export class AdminRoom extends Room {
  async asks(method, target, { as = 'root', can = ['admin/*'] } = {}, body = undefined) {
    const token = await this.router.token(as, this.topic, can);
    return this.router.request(method, target, { token, body });
  }

  /** Adds to and removes from the capabilities of `id`. */
  change(id, body, who) {
    return this.asks('POST', `${pathOf(id)}/capabilities`, who, { topic: this.topic, ...body });
  }

  kick(id, query = '', who = undefined) {
    return this.asks('DELETE', `${pathOf(id)}?topic=${encodeURIComponent(this.topic)}${query}`, who);
  }

  /** Changes, and expects that it is done. */
  changed(...args) {
    return good(this.change(...args));
  }
}

/** A router of this configuration, in which the participants have the tokens of tokenOf(). */
export async function configured(t, config) {
  const router = await Router.startFor(t, { config });
  router.change = (id, body, by = 'root') => router.request('POST', `${pathOf(id)}/capabilities`,
    { token: tokenOf(by), body: { topic: 'work', ...body } });
  router.join = async (id, more) => {
    const one = await Participant.join(router, { topic: 'work', token: tokenOf(id), ...more });
    t.after(() => one.close());
    return one;
  };
  return router;
}

/** The answers with all pages of a list, as `by` reads it. */
export async function pagesOf(router, path, by) {
  const pages = [];
  for (let next = ''; next !== undefined; next = pages.at(-1).json.next) {
    pages.push(await router.get(`${path}${next && `&after=${encodeURIComponent(next)}`}`, tokenOf(by)));
  }
  return pages;
}

/** What an answer says that has to be 200. */
export async function good(answer) {
  const { status, json, text } = await answer;
  assert.equal(status, 200, text);
  return json;
}

/** It has to be refused so, in such words. */
export async function refused(answer, status, says = /./, what = '') {
  const { status: found, json, text } = await answer;
  assert.equal(found, status, `${what}: ${text}`);
  assert.match(json.detail, says, what);
  return json;
}
