/*
 * client.mjs - an ordinary MCP client: it starts the server of its one configuration file, calls a
 * tool once that is listed, and waits eight seconds for a sign of life, as clients do. It has never
 * heard of topics.
 *
 *     client.mjs CONFIG TOOL ARGUMENTS
 */
import { connect } from './session.mjs';

const [config, name, args] = process.argv.slice(2);
const { client, tools } = await connect(config, name);
console.log(`it has ${tools.length} tools, among them ${name}`);
const began = Date.now();
const after = () => `after ${((Date.now() - began) / 1000).toFixed(1)} s`;
try {
  const result = await client.callTool({ name, arguments: JSON.parse(args) }, undefined, {
    timeout: 8000,
    resetTimeoutOnProgress: true,
    onprogress: ({ message, progress }) => console.log(`${after()}: ${message ?? `progress ${progress}`}`),
  });
  console.log(`${after()}: ${result.isError ? 'error: ' : ''}${result.content[0].text}`);
} catch (error) {
  console.log(`${after()}: failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
