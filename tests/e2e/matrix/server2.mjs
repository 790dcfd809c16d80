/*
 * server2.mjs - the server of the matrix with the official SDK's second generation: it speaks 2026-07-28
 * and refuses everything older. That SDK has no tasks; those of the extension are answered before it.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { completable, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { DONE, INFO, JOBS, mark, register, RESOURCES, tap, UI, WATCHED } from './offer.mjs';

const META = 'io.modelcontextprotocol/';
const EXTENSIONS = { [`${META}tasks`]: {} };
const tasks = new Map();
const listens = new Map(); /* task -> what is told of it */
let finished; /* ends the call of a job that is no task */

/* The answers of earlier rounds are in the state. A question without one ends this round: it is thrown. */
function asker(request) {
  const answers = { ...JSON.parse(request.requestState() ?? '{}'), ...request.inputResponses };
  return (key, method, params) => {
    if (answers[key] !== undefined) return answers[key];
    throw inputRequired({ requestState: JSON.stringify(answers),
      inputRequests: { [key]: { method, params } } });
  };
}

function makeServer() {
  const server = new McpServer(INFO,
    { capabilities: { logging: {}, extensions: { ...EXTENSIONS, ...UI }, resources: RESOURCES } });
  register(server, { object: z.object, completable, can: ({ mcpReq }) => ({
    signal: mcpReq.signal,
    progress: (progress, total) => mcpReq.notify({ method: 'notifications/progress',
      params: { progressToken: mcpReq._meta?.progressToken, progress, total } }),
    log: mcpReq.log,
    ask: asker(mcpReq),
    client: () => mcpReq.envelope[`${META}clientCapabilities`].extensions,
    touch: () => server.server.sendResourceUpdated({ uri: WATCHED }),
    finish: () => {
      finished?.();
      for (const task of tasks.values()) {
        if (task.status === 'working') Object.assign(task, { status: 'completed', result: DONE });
        if (listens.has(task.taskId)) transport.send(listens.get(task.taskId)('tasks', task));
      }
    },
  }), run: (call) => call().catch((end) => {
    if (end.resultType) return end;
    throw end;
  }) });
  for (const name of Object.keys(JOBS)) {
    server.registerTool(name, { description: `a ${name}`, inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      const end = new Promise((done) => { finished = done; });
      mark('working');
      await Promise.race([end, once(mcpReq.signal, 'abort')]);
      return DONE;
    });
  }
  return server;
}

const UNABLE = { error: { code: -32021, message: 'Missing required client capability',
  data: { requiredCapabilities: { extensions: EXTENSIONS } } } };
const UNKNOWN = { error: { code: -32602, message: 'no such task' } };

/* What the SDK is not to see; undefined: it is. */
const answers = {
  'tools/call': ({ name, _meta: meta }) => {
    const { extensions } = meta?.[`${META}clientCapabilities`] ?? {};
    if (!JOBS[name]) return undefined;
    if (!extensions?.[`${META}tasks`]) return JOBS[name] === 'required' ? UNABLE : undefined;
    const now = new Date().toISOString();
    const task = { taskId: randomUUID(), status: 'working', createdAt: now, lastUpdatedAt: now,
      ttlMs: 60000, pollIntervalMs: 20 };
    tasks.set(task.taskId, task);
    mark('working');
    return { result: { ...task, resultType: 'task' } };
  },
  'tasks/get': ({ taskId }) =>
    tasks.has(taskId) ? { result: { ...tasks.get(taskId), resultType: 'complete' } } : UNKNOWN,
  'tasks/cancel': ({ taskId }) => {
    const task = tasks.get(taskId);
    if (task?.status === 'working') task.status = 'cancelled';
    return task ? { result: { resultType: 'complete' } } : UNKNOWN;
  },
  'subscriptions/listen': ({ notifications }, subscription) => {
    if (!notifications.taskIds) return undefined;
    const tell = (method, params) => ({ jsonrpc: '2.0', method: `notifications/${method}`,
      params: { ...params, _meta: { [`${META}subscriptionId`]: subscription } } });
    for (const id of notifications.taskIds) listens.set(id, tell);
    return { id: undefined, ...tell('subscriptions/acknowledged', { notifications }) };
  },
};

const transport = new StdioServerTransport();
serveStdio(makeServer, { legacy: 'reject', transport });
tap(transport, ({ id, method, params }) => {
  const answer = answers[method]?.(params, id);
  if (answer) transport.send({ jsonrpc: '2.0', id, ...answer });
  return answer;
});
