/*
 * offer.mjs - what both servers of the matrix offer, whichever SDK they are made with. A tool's `run`
 * is given its arguments and what it may do:
 *
 *     signal                     ends when the call is cancelled
 *     progress(n, total), log(level, data)
 *     ask(key, method, params)   the client's answer to a question; a key stands for one in each call
 *     touch(), grow(), finish()  the watched resource changes; a tool is added; all tasks complete
 *     visit()                    wants an address visited, if the SDK knows how
 *     client()                   the client's extensions, as the server was told
 */
import { EventEmitter, once } from 'node:events';
import { z } from 'zod';

export const INFO = { name: 'matrix', version: '1.0.0' };
export const WATCHED = 'mem:///watched';
export const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
export const RESOURCES = { subscribe: true, listChanged: true };
const text = (value, more) => ({ content: [{ type: 'text', text: String(value) }], ...more });

/** The tools that make a task, and what comes of it. */
export const JOBS = { job: 'optional', job_only: 'required' };
export const DONE = text('the work is done');

const bus = new EventEmitter();
const marks = new Set();

/** Something has happened; who waits for it, or will, takes it. */
export function mark(what) {
  marks.add(what);
  bus.emit(what);
  return text(what);
}

async function until(what, signal) {
  if (!marks.has(what)) await once(bus, what, { signal });
  marks.delete(what);
  return text(what);
}

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const CITIES = ['Basel', 'Bern', 'Zug'];
const QUESTION = { messages: [{ role: 'user', content: { type: 'text', text: 'six times seven?' } }],
  maxTokens: 10 };

const TOOLS = {
  echo: { takes: { text: z.string() }, run: (args) => text(args.text, { _meta: { 'x.y/z': [1] } }) },
  sum: { takes: { a: z.number(), b: z.number() }, gives: { sum: z.number() },
    run: ({ a, b }) => text(a + b, { structuredContent: { sum: a + b } }) },
  mark: { takes: { what: z.string() }, run: ({ what }) => mark(what) },
  until: { takes: { what: z.string() }, run: ({ what }, { signal }) => until(what, signal) },
  steps: { run: async (_, { progress, signal }) => {
    for (const n of [1, 2, 3]) await progress(n, 3);
    await until('go', signal);
    return text('stepped');
  } },
  hang: { run: async (_, { signal }) => {
    mark('hanging');
    await once(signal, 'abort');
    mark('cancelled');
    return text('too late');
  } },
  ask: { takes: { times: z.number() }, run: async ({ times }, { ask }) => {
    const answers = [];
    for (let n = 0; n < times; n += 1) {
      answers.push(await ask(`name-${n}`, 'elicitation/create',
        { mode: 'form', message: `name ${n}?`, requestedSchema: NAME }));
    }
    return text(answers.map(({ action, content }) => `${action} ${content?.name}`));
  } },
  sample: { run: async (_, { ask }) =>
    text((await ask('sample', 'sampling/createMessage', QUESTION)).content.text) },
  roots: { run: async (_, { ask }) =>
    text((await ask('roots', 'roots/list', {})).roots.map(({ uri }) => uri)) },
  log: { run: async (_, { log }) => {
    for (const level of ['debug', 'info', 'warning', 'error']) await log(level, `a word of ${level}`);
    return text('logged');
  } },
  extensions: { run: (_, { client }) => text(JSON.stringify(client())) },
  ...Object.fromEntries(['touch', 'grow', 'finish', 'visit'].map((name) => [name,
    { run: async (_, can) => text(await can[name]?.() ?? name) }])),
};

/**
 * Registers everything but the jobs with a McpServer. `can(context)` is what tools may do, beside
 * `grow`; `object` makes of a shape what the SDK takes, and `run(call)` a result of what a call does.
 */
export function register(server, { can, object, completable, run: ran = (call) => call() }) {
  const grow = () => server.registerTool('grown', { description: 'new' }, () => text('grown'));
  for (const [name, { takes = {}, gives, run }] of Object.entries(TOOLS)) {
    server.registerTool(name, { description: `does ${name}`, inputSchema: object(takes),
      ...(gives && { outputSchema: object(gives) }) },
    (args, context) => ran(async () => run(args, { grow, ...can(context) })));
  }
  const city = completable(z.string(), (value) => CITIES.filter((one) => one.startsWith(value)));
  server.registerPrompt('travel', { description: 'a trip', argsSchema: object({ city }) },
    (args) => ({ messages: [{ role: 'user', content: { type: 'text', text: `to ${args.city}` } }] }));
  for (const [name, uri] of [['note', 'mem:///note'], ['watched', WATCHED]]) {
    server.registerResource(name, uri, { mimeType: 'text/plain' },
      () => ({ contents: [{ uri, mimeType: 'text/plain', text: `the text of ${name}` }] }));
  }
}

/** What `take(message)` takes of a transport's messages does not reach the SDK: it has no words for it. */
export function tap(transport, take) {
  const hear = transport.onmessage;
  transport.onmessage = (message, extra) => take(message) || hear(message, extra);
}
