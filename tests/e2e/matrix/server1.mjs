/*
 * server1.mjs - the server of the matrix with the official SDK's first generation: it speaks 2025-11-25
 * and knows nothing newer. Tasks are those of that revision.
 */
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CreateMessageResultSchema, ElicitResultSchema, ListRootsResultSchema, SubscribeRequestSchema,
  UnsubscribeRequestSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { DONE, INFO, JOBS, mark, register, RESOURCES, UI, WATCHED } from './offer.mjs';

const ANSWERS = { 'elicitation/create': ElicitResultSchema, 'roots/list': ListRootsResultSchema,
  'sampling/createMessage': CreateMessageResultSchema };

const taskStore = new InMemoryTaskStore();
const server = new McpServer(INFO, { taskStore, capabilities: { logging: {}, resources: RESOURCES, extensions: UI,
  tasks: { cancel: {}, requests: { tools: { call: {} } } } } });

const watched = new Set();
let visits = 0;
for (const [schema, change] of [[SubscribeRequestSchema, 'add'], [UnsubscribeRequestSchema, 'delete']]) {
  server.server.setRequestHandler(schema, ({ params }) => {
    watched[change](params.uri);
    return {};
  });
}

register(server, { object: (shape) => shape, completable, can: (extra) => ({
  signal: extra.signal,
  progress: (progress, total) => extra.sendNotification({ method: 'notifications/progress',
    params: { progressToken: extra._meta?.progressToken, progress, total } }),
  log: (level, data) => server.sendLoggingMessage({ level, data }, extra.sessionId),
  ask: (_, method, params) => extra.sendRequest({ method, params }, ANSWERS[method]),
  client: () => server.server.getClientCapabilities().extensions,
  touch: () => watched.has(WATCHED) && server.server.sendResourceUpdated({ uri: WATCHED }),
  finish: () => Promise.all(taskStore.getAllTasks().filter(({ status }) => status === 'working')
    .map(({ taskId }) => taskStore.storeTaskResult(taskId, 'completed', DONE))),
  visit: () => {
    if ((visits += 1) % 2 === 0) return;
    throw new UrlElicitationRequiredError(
      [{ mode: 'url', message: 'in', elicitationId: '1', url: 'https://a.b' }]);
  },
}) });

for (const [name, taskSupport] of Object.entries(JOBS)) {
  server.experimental.tasks.registerToolTask(name, { description: `a ${name}`, inputSchema: {},
    execution: { taskSupport } }, {
    createTask: async (_, extra) => {
      const task = await extra.taskStore.createTask({ ttl: 60000, pollInterval: 20 });
      mark('working');
      return { task };
    },
    getTask: (_, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (_, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
}

await server.connect(new StdioServerTransport());
