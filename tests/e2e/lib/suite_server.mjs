/*
 * suite_server.mjs - a server on its standard streams that has what the official conformance suite asks for,
 * so that its scenarios have something to pass or fail on the way. Reference servers have other tools, and
 * most scenarios end there with "not found", wherever they run.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as pause } from 'node:timers/promises';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri, mimeType, words) => ({ type: 'resource',
  resource: { uri, mimeType, text: words } });
const titled = (...names) => names.map((title, i) => ({ const: `value${i + 1}`, title }));

async function log({ sendNotification }) {
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
    await pause(50);
  }
  return [text('logged three times')];
}

async function progress({ sendNotification, _meta }) {
  for (const done of [0, 50, 100]) {
    if (_meta?.progressToken !== undefined) {
      await sendNotification({ method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress: done, total: 100 } });
    }
    await pause(50);
  }
  return [text('done')];
}

async function sample({ sendRequest }, { prompt }) {
  const { content } = await sendRequest({ method: 'sampling/createMessage', params: {
    messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 } },
  types.CreateMessageResultSchema);
  return [text(`LLM response: ${content.text}`)];
}

async function elicit({ sendRequest }, message, properties, required = []) {
  const { action, content } = await sendRequest({ method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties, required } } },
  types.ElicitResultSchema);
  return [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`)];
}

const string = (description) => ({ type: 'string', description });
const options = ['option1', 'option2', 'option3'];
const ENUMS = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
};
const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const USER = { username: string('User\'s response'), email: string('User\'s email address') };

/** name -> what it answers, given `extra` and arguments. */
export const TOOLS = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [embedded('test://embedded-resource', 'text/plain',
    'This is an embedded resource content.')],
  test_multiple_content_types: () => [text('Multiple content types test:'), image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')],
  test_tool_with_logging: log,
  test_tool_with_progress: progress,
  test_error_handling: () => { throw new Error('This tool intentionally returns an error for testing'); },
  test_sampling: sample,
  test_elicitation: (extra, { message }) => elicit(extra, message, USER, Object.keys(USER)),
  test_elicitation_sep1034_defaults: (extra) => elicit(extra, 'defaults', DEFAULTS),
  test_elicitation_sep1330_enums: (extra) => elicit(extra, 'enums', ENUMS),
  json_schema_2020_12_tool: () => [text('a schema')],
};
export const INPUTS = {
  test_sampling: { type: 'object', properties: { prompt: string('to send') }, required: ['prompt'] },
  test_elicitation: { type: 'object', properties: { message: string('to show') }, required: ['message'] },
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  },
};
const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
};
export const PROMPTS = {
  test_simple_prompt: () => [text('This is a simple prompt for testing.')],
  test_prompt_with_arguments: ({ arg1, arg2 }) =>
    [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.')],
  test_prompt_with_image: () => [image, text('Please analyze the image above.')],
};
const ARGUMENTS = { test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'] };

async function callTool({ params }, extra) {
  const tool = TOOLS[params.name];
  if (!tool) throw new types.McpError(types.ErrorCode.InvalidParams, `no tool ${params.name}`);
  try {
    return { content: await tool(extra, params.arguments ?? {}) };
  } catch (error) {
    return { isError: true, content: [text(error.message)] };
  }
}

export function readResource({ params: { uri } }) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  const found = id === undefined ? RESOURCES[uri] : { mimeType: 'application/json',
    text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
  if (!found) throw new types.McpError(-32002, `no resource ${uri}`);
  return { contents: [{ uri, ...found }] };
}

export function getPrompt({ params }) {
  const prompt = PROMPTS[params.name];
  if (!prompt) throw new types.McpError(types.ErrorCode.InvalidParams, `no prompt ${params.name}`);
  return { messages: prompt(params.arguments ?? {}).map((content) => ({ role: 'user', content })) };
}

export const COMPLETION = { completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false } };
const EMPTY = { type: 'object', properties: {} };
export const LISTS = {
  'tools/list': () => ({ tools: Object.keys(TOOLS).map((name) => ({ name, description: name,
    inputSchema: INPUTS[name] ?? EMPTY })) }),
  'resources/list': () => ({ resources: Object.entries(RESOURCES)
    .map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType })) }),
  'resources/templates/list': () => ({ resourceTemplates: [{
    uriTemplate: 'test://template/{id}/data', name: 'template', description: 'a template' }] }),
  'prompts/list': () => ({ prompts: Object.keys(PROMPTS).map((name) => ({ name, description: name,
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({ name: argument, required: true })) })) }),
};

function suiteServer() {
  const server = new Server({ name: 'suite', version: '1' }, { capabilities: { tools: {},
    resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} } });
  const done = () => ({});
  const handlers = { ListTools: LISTS['tools/list'], CallTool: callTool, ListResources: LISTS['resources/list'],
    ListResourceTemplates: LISTS['resources/templates/list'], ReadResource: readResource, Subscribe: done,
    Unsubscribe: done, ListPrompts: LISTS['prompts/list'], GetPrompt: getPrompt, Complete: () => COMPLETION,
    SetLevel: done };
  for (const [name, run] of Object.entries(handlers)) server.setRequestHandler(types[`${name}RequestSchema`], run);
  return server;
}

if (process.argv[1]?.endsWith('suite_server.mjs')) await suiteServer().connect(new StdioServerTransport());
