/*
 * modern_server.mjs - a server of the protocol of 2026-07-28, made with the official SDK's second
 * generation, for tests of bridges. Its list of tools grows when `grow` is called.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

function makeServer() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' }, { instructions: 'Add.' });
  const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => text(a + b));
  server.registerTool('grow', { inputSchema: z.object({}) }, () => {
    server.registerTool('grown', { inputSchema: z.object({}) }, () => text('grown'));
    return text('growing');
  });
  return server;
}

serveStdio(makeServer);
