/*
 * patient_server.mjs - a server that does what well-behaved ones never do: "wait" is not answered
 * until "release", and then the first only; "cancelled" says how many cancellations came; "garbage"
 * and "overlong" write lines that are no answers. "echo" answers with its params, every third time a
 * little later; "count" says how often it was asked to. "ask" asks its client and answers with what
 * it heard; with "later" among the arguments, it asks when it has read another line. "tools/call"
 * does what it names; "noise" says 200,000 bytes to standard error first.
 */
import { createInterface } from 'node:readline';

let cancelled = 0;
let echoed = 0;
let asking;
let waiting;
let next = () => {};
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const METHODS = {
  initialize: ({ id }) => write({ id, result: { protocolVersion: '2025-11-25', capabilities: {},
    serverInfo: { name: 'patient', version: '1' } } }),
  echo: ({ id, params }) => {
    echoed += 1;
    const answer = () => write({ id, result: params });
    if (params.n % 3 === 0) setImmediate(answer);
    else answer();
  },
  count: ({ id }) => write({ id, result: echoed }),
  ask: ({ id, params }) => {
    asking = id;
    const ask = () => write({ id: 'question', method: 'elicitation/create',
      params: { message: '?' } });
    if (params.arguments?.later) next = ask;
    else ask();
  },
  'tools/call': (message) => METHODS[message.params.name](message),
  noise: ({ id }) => {
    for (let i = 0; i < 2000; i += 1) process.stderr.write(`${'x'.repeat(99)}\n`);
    write({ id, result: 'said' });
  },
  wait: ({ id }) => {
    waiting ??= id;
    process.stderr.write('waiting\n');
  },
  release: ({ id }) => {
    write({ id: waiting, result: 'released' });
    write({ id, result: true });
  },
  cancelled: ({ id }) => write({ id, result: cancelled }),
  'notifications/cancelled': () => { cancelled += 1; },
  'notifications/initialized': () => {},
  garbage: () => process.stdout.write('this is no JSON\n\n'),
  overlong: () => process.stdout.write(`${'x'.repeat(20000)}\n`),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const now = next;
  next = () => {};
  const method = METHODS[message.method];
  if (message.id === 'question') write({ id: asking, result: message.result ?? message.error });
  else if (method) method(message);
  else write({ id: message.id, error: { code: -32601, message: 'Method not found' } });
  now();
});
