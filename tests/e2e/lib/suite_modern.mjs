/*
 * suite_modern.mjs - a server of 2026-07-28 that has what the official conformance suite asks for, on its
 * standard streams: what suite_server.mjs offers, questions in results, tasks and subscriptions. It is
 * written by hand, because the SDK has no tasks.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { put, serve } from './small_server.mjs';
import { COMPLETION, getPrompt, LISTS, PROMPTS, readResource, text, TOOLS } from './suite_server.mjs';

const META = 'io.modelcontextprotocol/';
const VERSION = '2026-07-28';
const TASKS = { extensions: { [`${META}tasks`]: {} } };
const HINTS = { ttlMs: 300000, cacheScope: 'public' };
const said = (words) => ({ content: [text(words)] });
const fail = (code, message, data) => { throw Object.assign(new Error(message), { code, data }); };
const lacks = (requiredCapabilities) => fail(-32021, 'Missing required client capability', { requiredCapabilities });
const clientOf = (meta) => meta[`${META}clientCapabilities`];
const hasTasks = (meta) => clientOf(meta).extensions?.[`${META}tasks`];

/* ---- questions ---- */

const elicit = (name, type = 'string') => ({ method: 'elicitation/create', params: { message: `${name}?`,
  requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] } } });
const sample = { method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text('a greeting?') }], maxTokens: 100 } };
const roots = { method: 'roots/list', params: {} };

/* What each asks in turn. */
const ROUNDS = {
  elicitation: [{ user_name: elicit('name') }],
  sampling: [{ sample_request: sample }],
  list_roots: [{ roots_request: roots }],
  prompt: [{ user_context: elicit('context') }],
  request_state: [{ confirm: elicit('ok', 'boolean') }],
  tampered_state: [{ confirm: elicit('ok', 'boolean') }],
  multiple_inputs: [{ user_name: elicit('name'), greeting: sample, client_roots: roots }],
  multi_round: [{ step1: elicit('name') }, { step2: elicit('color') }],
};
const SECRET = randomUUID();
const signed = (round) => `${round}.${createHmac('sha256', SECRET).update(`${round}`).digest('hex')}`;

/* The next question, or what `end` makes of the answers. */
function inRounds(name, { inputResponses = {}, requestState }, end) {
  const questions = ROUNDS[name];
  let round = parseInt(requestState ?? '0', 10);
  if (requestState !== undefined && requestState !== signed(round)) fail(-32602, 'requestState is not ours');
  if (Object.keys(questions[round]).every((key) => inputResponses[key])) round += 1;
  if (round === questions.length) return end(`state-ok ${JSON.stringify(inputResponses)}`);
  return { resultType: 'input_required', inputRequests: questions[round], requestState: signed(round) };
}

/* ---- tasks ---- */

const tasks = new Map();

/* A task that ends so after `ms`, or when its questions are answered. */
function begin(end, ms, inputRequests) {
  const now = new Date().toISOString();
  const made = { taskId: randomUUID(), status: 'working', createdAt: now, lastUpdatedAt: now, ttlMs: 60000,
    pollIntervalMs: 100 };
  const task = { ...made, ...(inputRequests && { status: 'input_required', inputRequests }) };
  const finish = () => task.status === 'working' && Object.assign(task, end);
  tasks.set(made.taskId, { task, finish });
  setTimeout(finish, ms).unref();
  return { ...made, resultType: 'task' };
}

const completed = (result) => ({ status: 'completed', result });
const JOBS = {
  slow_compute: ({ seconds }) => [completed(said('computed')), seconds * 1000],
  failing_job: () => [completed({ ...said('failed'), isError: true }), 100],
  protocol_error_job: () => [{ status: 'failed', error: { code: -32603, message: 'a panic' } }, 100],
  confirm_delete: () => [completed(said('deleted')), 0, { confirm: elicit('confirm', 'boolean') }],
  multi_input: () => [completed(said('both')), 0, { one: elicit('one'), two: elicit('two') }],
};

function taskOf({ taskId, _meta: meta }) {
  if (!hasTasks(meta)) lacks(TASKS);
  return tasks.get(taskId) ?? fail(-32602, 'no such task');
}

const TASK_METHODS = {
  'tasks/get': (params) => taskOf(params).task,
  'tasks/update': (params) => {
    const { task, finish } = taskOf(params);
    for (const key of Object.keys(params.inputResponses)) delete task.inputRequests?.[key];
    if (task.status === 'input_required' && Object.keys(task.inputRequests).length === 0) {
      task.status = 'working';
      delete task.inputRequests;
      finish();
    }
    return {};
  },
  'tasks/cancel': (params) => {
    const { task } = taskOf(params);
    if (['working', 'input_required'].includes(task.status)) task.status = 'cancelled';
    return {};
  },
};

/* ---- subscriptions ---- */

const listeners = new Map();
const tell = (id, method, params = {}) => put({ method: `notifications/${method}`,
  params: { ...params, _meta: { [`${META}subscriptionId`]: id } } });

function listen({ notifications: { toolsListChanged, promptsListChanged } }, id) {
  const notifications = { ...(toolsListChanged && { toolsListChanged }), ...(promptsListChanged && { promptsListChanged }) };
  listeners.set(id, notifications);
  tell(id, 'subscriptions/acknowledged', { notifications });
}

/* A list grows by one. */
function grow(list, entries) {
  entries[`grown_${Object.keys(entries).length}`] = () => said('grown');
  for (const [id, wants] of listeners) if (wants[`${list}ListChanged`]) tell(id, `${list}/list_changed`);
  return said('grown');
}

/* ---- tools ---- */

const progress = (token, done) => put({ method: 'notifications/progress',
  params: { progressToken: token, progress: done, total: 100 } });

const OWN = {
  greet: (_, { name }) => said(`Hello, ${name}!`),
  for_ever: () => ({ resultType: 'input_required', inputRequests: { again: elicit('name') }, requestState: 'again' }),
  test_missing_capability: ({ _meta: meta }) => (clientOf(meta).sampling ? said('able') : lacks({ sampling: {} })),
  test_input_required_result_capabilities: ({ _meta: meta, inputResponses }) => {
    const { elicitation, sampling } = clientOf(meta);
    const inputRequests = { ...(elicitation && { elicit_input: elicit('value') }), ...(sampling && { sample_input: sample }) };
    return inputResponses || (!elicitation && !sampling) ? said('capabilities-ok')
      : { resultType: 'input_required', inputRequests };
  },
  test_streaming_elicitation: ({ _meta: { progressToken } }) => progress(progressToken ?? 'none', 50) && said('streamed'),
  test_logging_tool: ({ _meta: meta }) => {
    if (meta[`${META}logLevel`]) put({ method: 'notifications/message', params: { level: 'info', data: 'a word' } });
    return said('logged');
  },
  test_tool_with_progress: async ({ _meta: { progressToken } }) => {
    for (const done of [0, 50, 100]) await pause(50, progressToken !== undefined && progress(progressToken, done));
    return said('done');
  },
  test_trigger_tool_change: () => grow('tools', TOOLS),
  test_trigger_prompt_change: () => grow('prompts', PROMPTS),
  test_tool_with_task: (params) => inRounds('elicitation', params, (words) =>
    (hasTasks(params._meta) ? begin(completed(said(words)), 100) : lacks(TASKS))),
  ...Object.fromEntries(Object.keys(ROUNDS).filter((name) => name !== 'prompt').map((name) =>
    [`test_input_required_result_${name}`, (params) => inRounds(name, params, said)])),
  ...Object.fromEntries(Object.entries(JOBS).map(([name, job]) => [name, async ({ _meta: meta }, args) => {
    const [end, ms, questions] = job(args);
    if (hasTasks(meta)) return begin(end, ms, questions);
    return name === 'failing_job' ? lacks(TASKS) : pause(ms, end.result);
  }])),
};
const ASKING = ['test_sampling', 'test_elicitation', 'test_elicitation_sep1034_defaults',
  'test_elicitation_sep1330_enums', 'test_tool_with_logging'];
for (const name of ASKING) delete TOOLS[name];
for (const [name, run] of Object.entries(TOOLS)) OWN[name] ??= async () => ({ content: await run({}, {}) });
for (const name of Object.keys(OWN)) TOOLS[name] ??= OWN[name];
PROMPTS.test_input_required_result_prompt = () => [];

async function call({ name, arguments: args = {}, ...params }) {
  if (!OWN[name]) fail(-32602, `no tool ${name}`);
  return Promise.resolve(params).then((given) => OWN[name](given, args)).catch((error) => {
    if (error.code) throw error;
    return { ...said(error.message), isError: true };
  });
}

const METHODS = {
  'server/discover': () => ({ ...HINTS, supportedVersions: [VERSION], capabilities: { tools: { listChanged: true },
    prompts: { listChanged: true }, resources: {}, completions: {}, logging: {}, ...TASKS },
  _meta: { [`${META}serverInfo`]: { name: 'suite', version: '2' } } }),
  ...Object.fromEntries(Object.entries(LISTS).map(([name, list]) => [name, () => ({ ...HINTS, ...list() })])),
  ...TASK_METHODS,
  'tools/call': call,
  'prompts/get': (params) => (params.name !== 'test_input_required_result_prompt' ? getPrompt({ params })
    : inRounds('prompt', params, (words) => ({ messages: [{ role: 'user', content: text(words) }] }))),
  'resources/read': (params) => {
    try {
      return { ...HINTS, ...readResource({ params }) };
    } catch (error) {
      return fail(-32602, error.message, { uri: params.uri });
    }
  },
  'completion/complete': () => COMPLETION,
  'subscriptions/listen': listen,
};

/* What it is asked has to say in which protocol. */
const modern = (run) => async (params, id) => {
  const requested = params._meta?.[`${META}protocolVersion`];
  if (!requested || !clientOf(params._meta)) fail(-32602, '_meta lacks what each request has');
  if (requested !== VERSION) fail(-32022, 'Unsupported protocol version', { supported: [VERSION], requested });
  const result = await run(params, id);
  return result && { resultType: 'complete', ...result };
};

serve('suite', { initialize: undefined, ping: undefined,
  ...Object.fromEntries(Object.entries(METHODS).map(([name, run]) => [name, modern(run)])) },
{ other: ({ method, params }) => method === 'notifications/cancelled' && listeners.delete(params.requestId) });
