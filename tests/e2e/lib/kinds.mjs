/*
 * kinds.mjs - the kind of an MCP message, derived from the JSON-RPC inside it, and back.
 * Only the edges may look into payloads; the router derives from correlation alone, so this
 * table exists here and in libmcpx, never in the hub. kinds.test.mjs holds it against the table
 * of protocol section 2, as the conformance test does with the library's.
 */

const CONTEXT_OF = {
  'tools/call': (params) => params.name,
  'prompts/get': (params) => params.name,
  'resources/read': (params) => params.uri,
  'resources/subscribe': (params) => params.uri,
  'resources/unsubscribe': (params) => params.uri,
  'completion/complete': ({ ref }) =>
    ({ 'ref/prompt': ref?.name, 'ref/resource': ref?.uri })[ref?.type],
  'tasks/get': (params) => params.taskId,
  'tasks/cancel': (params) => params.taskId,
  'tasks/result': (params) => params.taskId,
  'tasks/update': (params) => params.taskId,
  'notifications/resources/updated': (params) => params.uri,
  'notifications/tasks/status': (params) => params.taskId,
};

/** The CONTEXT of a call, or undefined for methods that have none. */
export function contextOf(method, params) {
  const context = CONTEXT_OF[method]?.(params ?? {});
  return typeof context === 'string' && context !== '' ? context : undefined;
}

/** `type:METHOD[:CONTEXT]` for a JSON-RPC request or notification. */
export function kindOf(type, { method, params }) {
  const context = contextOf(method, params);
  return context === undefined ? `${type}:${method}` : `${type}:${method}:${context}`;
}

/** Splits at the first two colons; the rest, colons included, is CONTEXT. */
export function parseKind(kind) {
  const [type, method] = kind.split(':', 2);
  const used = type.length + 1 + (method ?? '').length + 1;
  return { type, method, context: kind.length >= used ? kind.slice(used) : undefined };
}

/**
 * Why kind and payload of a request disagree, or null when they agree. A grant is judged by the
 * kind; an edge that executed a payload saying something else would make grants worthless.
 */
export function disagreement(envelope) {
  const { method, context } = parseKind(envelope.kind);
  if (method !== envelope.payload.method) {
    return `kind says ${method}, payload says ${envelope.payload.method}`;
  }
  const inside = contextOf(method, envelope.payload.params);
  if (context !== undefined && context !== inside) {
    return `kind says ${context}, payload says ${inside}`;
  }
  return null;
}
