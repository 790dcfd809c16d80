/*
 * patient_server.mjs - a server that does what well-behaved ones never do: "wait" is not answered
 * until "release", and then the first only; "cancelled" says how many cancellations came. "echo" answers
 * with its params, every third time a little later; "count" says how often it was asked to. "ask" asks its
 * client and answers with what it heard; with "later" among the arguments, it asks when it has read another
 * line. "tools/call" does what it names; "noise" says 200,000 bytes to standard error first, "large" is
 * answered with 7 MB, "chatter" with notifications without end.
 */
import { put, serve } from './small_server.mjs';

const CHATTER = Array.from({ length: 200 }, (_, n) =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { n } })}\n`).join('');
const chatter = () => process.stdout.write(CHATTER, () => setImmediate(chatter));
let cancelled = 0;
let echoed = 0;
let asking;
let waiting;
let next = () => {};

const METHODS = {
  echo: (params, id) => {
    echoed += 1;
    if (params.n % 3 !== 0) return params;
    setImmediate(put, { id, result: params });
    return undefined;
  },
  count: () => echoed,
  large: () => ({ text: 'x'.repeat(7_000_000) }),
  chatter: () => setImmediate(chatter) && {},
  ask: (params, id) => {
    asking = id;
    const ask = () => put({ id: 'question', method: 'elicitation/create', params: { message: '?' } });
    if (params.arguments?.later) next = ask;
    else ask();
  },
  'tools/call': (params, id) => METHODS[params.name](params, id),
  noise: () => {
    for (let i = 0; i < 2000; i += 1) process.stderr.write(`${'x'.repeat(99)}\n`);
    return 'said';
  },
  wait: (_, id) => {
    waiting ??= id;
    process.stderr.write('waiting\n');
  },
  release: () => put({ id: waiting, result: 'released' }) || true,
  cancelled: () => cancelled,
};

/* Does what it does, then what waited for this line. */
const inTurn = (run) => (...call) => {
  const now = next;
  next = () => {};
  const answer = run(...call);
  now();
  return answer;
};

serve('patient', Object.fromEntries(Object.entries(METHODS).map(([name, run]) => [name, inTurn(run)])), { capabilities: {}, other: ({ id, method, result, error }) => {
  if (id === 'question') put({ id: asking, result: result ?? error });
  else if (method === 'notifications/cancelled') cancelled += 1;
} });
