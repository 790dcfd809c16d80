/*
 * counting_server.mjs - a server that counts what reaches it: "calls" answers with the names of the
 * tools that were called. Its list has two pages. "add" adds; "lie" returns what it said it would
 * not; "wait" never answers; "fail" says that it failed. With the word "restless" its list changes
 * whenever somebody reads it, and is long in coming. With "odd" a tool has a pattern of PCRE2's.
 */
import { put, serve } from './small_server.mjs';

const SUM = { type: 'object', required: ['sum'], properties: { sum: { type: 'number' } } };
const ANY = { type: 'object' };
const PAGES = {
  first: { tools: [{ name: 'add', outputSchema: SUM, inputSchema: { type: 'object',
    required: ['a', 'b'], properties: { a: { type: 'number' }, b: { type: 'number' } } } }],
  nextCursor: 'second' },
  second: { tools: [{ name: 'lie', outputSchema: SUM, inputSchema: ANY },
    { name: 'wait', inputSchema: ANY }, { name: 'fail', inputSchema: ANY }] },
};

if (process.argv[2] === 'odd')
  PAGES.second.tools.push({ name: 'odd', inputSchema: { ...ANY, properties: { a: { pattern: '\\p{Han}' } } } });

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const TOOLS = {
  add: ({ a, b }) => ({ ...text(a + b), structuredContent: { sum: a + b } }),
  lie: () => ({ ...text('?'), structuredContent: { total: 1 } }),
  fail: () => ({ ...text('no such file or directory'), isError: true }),
  wait: () => { process.stderr.write('waiting\n'); },
};

const calls = [];
const isRestless = process.argv[2] === 'restless';
serve('counting', {
  'tools/list': ({ cursor }) => {
    if (isRestless) put({ method: 'notifications/tools/list_changed' });
    return PAGES[cursor ?? 'first'];
  },
  'tools/call': ({ name, arguments: args }) => {
    calls.push(name);
    return TOOLS[name](args ?? {});
  },
  calls: () => ({ calls }),
}, {
  version: '2.1.0',
  say: (answer) => setTimeout(put, isRestless && answer.result?.tools ? 300 : 0, answer),
  other: ({ method, params }) => method === 'tools/call' && calls.push(params.name),
});
