/*
 * picture_server.mjs - a server whose one tool "picture" answers with as many bytes as it is asked for,
 * as an image: { bytes, last } with the id of the answer at its end when `last` says so, as some
 * SDKs write it.
 */
import { createInterface } from 'node:readline';

/** The picture: bytes that compress badly in the eye of whoever compares, but always the same. */
export function picture(bytes) {
  const data = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i += 1) data[i] = (i * 2654435761) >>> 13;
  return data.toString('base64');
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: 'picture', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'picture', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { bytes } }) => ({
    content: [{ type: 'image', data: picture(bytes), mimeType: 'image/x' }] }),
};

function serve(line) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method]
    ? { result: ANSWERS[method](params) } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify(params?.arguments?.last
    ? { ...answer, jsonrpc: '2.0', id } : { jsonrpc: '2.0', id, ...answer })}\n`);
}

if (process.argv[2] === 'serve') createInterface({ input: process.stdin }).on('line', serve);
