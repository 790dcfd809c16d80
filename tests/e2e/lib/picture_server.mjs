/*
 * picture_server.mjs - a server whose one tool "picture" answers with as many bytes as it is asked for,
 * as an image: { bytes, last } with the id of the answer at its end when `last` says so, as some
 * SDKs write it.
 */
import { put, serve } from './small_server.mjs';

/** The picture: bytes that compress badly in the eye of whoever compares, but always the same. */
export function picture(bytes) {
  const data = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i += 1) data[i] = (i * 2654435761) >>> 13;
  return data.toString('base64');
}

const METHODS = {
  'tools/list': () => ({ tools: [{ name: 'picture', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { bytes } }) => ({
    content: [{ type: 'image', data: picture(bytes), mimeType: 'image/x' }] }),
};

const say = ({ id, ...answer }, params) => put(params.arguments?.last ? { ...answer, id } : { id, ...answer });

if (process.argv[2] === 'serve') serve('picture', METHODS, { say });
