/*
 * session.mjs - an ordinary MCP client: connected to the server of its one configuration file, once that
 * lists `tool`.
 */
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export async function connect(config, tool) {
  const [server] = Object.values(JSON.parse(readFileSync(config, 'utf8')).mcpServers);
  const client = new Client({ name: 'ordinary', version: '1.0.0' }, { capabilities: {} });
  await client.connect(new StdioClientTransport({ ...server, stderr: 'inherit' }));
  for (;;) {
    const { tools } = await client.listTools();
    if (tools.some(({ name }) => name === tool)) return { client, tools };
  }
}
