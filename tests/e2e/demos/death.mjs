/*
 * death.mjs - demo 4: a server is killed in the middle of a call, then its bridge, then the router
 * goes and comes back. Nobody waits for the dead, and nothing is left over or lost.
 */
import { join } from 'node:path';
import { descendants } from '../lib/program.mjs';
import { freePort } from '../lib/router.mjs';
import { alive, DEMOS, dim } from '../lib/stage.mjs';

export const title = 'sudden death: of a server, of its bridge, of the router';

const LONG = 'trigger-long-running-operation';

export async function play(stage) {
  await stage.step('A room with a server that works on something long');
  stage.secret('MCPX_AUTH_JWT_SECRET'); /* tokens must outlive the router */
  const router = await stage.router({ port: await freePort() });
  const server = await stage.import('everything', 'mcp-server-everything stdio');
  const family = tree(stage, server);
  await killServer(stage, server, family);
  await killBridge(stage, server);
  await stopRouter(stage, router);
}

/** Shows the processes behind a bridge; returns them. */
function tree(stage, bridge) {
  const family = descendants(bridge.pid);
  for (const { pid, command } of family) stage.say(`  ${dim(`${pid} ${command}`)}`);
  return family;
}

async function longCall(stage, duration) {
  const call = await stage.start('call', `mcpxctl call --as caller --to everything ${LONG} `
    + `'${JSON.stringify({ duration, steps: duration * 2 })}'`);
  await call.until(/[0-9]/);
  return call;
}

async function killServer(stage, server, family) {
  await stage.step('kill -9 in the middle of a call');
  const call = await longCall(stage, 60);
  const said = server.lines.length;
  const { pid } = family.find(({ command }) => /mcp-server-everything/.test(command)
    && !command.includes('mcpx-bridge'));
  const { ms } = await stage.kill(pid, call);
  stage.show('call');
  stage.check(call.ended.code === 1, `the caller had an error after ${ms} ms, not a timeout after 60 s`);
  await server.until(/is ready/, { since: said });
  stage.show('everything', server.lines.slice(said));
  stage.check(alive(family.filter((one) => one.pid === pid)).length === 0, 'the old process is gone');
  const { out } = await stage.run('mcpxctl call --as caller --to everything echo \'{"message": "back"}\'');
  stage.check(out === 'Echo: back\n', 'and the server is back');
}

/** An ordinary client in the middle of a call that takes `duration` seconds. */
async function clientCall(stage, name, duration) {
  await stage.token(name, ['mcp/request:*', 'mcp/response:*']);
  stage.client(`${name}.json`, name);
  const client = await stage.start(name, `node ${join(DEMOS, 'client.mjs')} ${name}.json `
    + `everything__${LONG} '${JSON.stringify({ duration, steps: duration * 2 })}'`);
  await client.until(/progress 1/);
  return client;
}

async function killBridge(stage, server) {
  await stage.step('kill -9 of the bridge itself');
  const client = await clientCall(stage, 'desk', 60);
  const family = descendants(server.pid);
  const { ms } = await stage.kill(server.pid, client);
  stage.show('desk');
  stage.check(client.lines.some((line) => /failed: .*left the topic/.test(line)),
    `the caller had an error after ${ms} ms`);
  await server.end();
  await stage.until(() => alive(family).length === 0, 'the server of a dead bridge ends');
  stage.check(family.length > 0, `the ${family.length} processes behind the bridge are gone as well`);
}

async function stopRouter(stage, router) {
  await stage.step('The router stops and starts again, while one client waits and one makes calls');
  await stage.import('everything', 'mcp-server-everything stdio');
  const patient = await clientCall(stage, 'patient', 5);
  const steady = await stage.start('steady', `node ${join(DEMOS, 'steady.mjs')} desk.json 100`);
  await steady.until(/^20 of 100/);
  await stage.stop(router);
  await stage.router({ port: router.port });
  await steady.until(/100 calls/);
  await steady.end();
  stage.show('steady');
  stage.check(steady.lines.some((line) => /100 calls, 100 right answers/.test(line)),
    'every call was answered with its own answer, those included that were made in between');
  await patient.end();
  stage.show('patient');
  stage.check(patient.lines.some((line) => /completed. Duration: 5 seconds/.test(line)),
    'and so was the one that had been under way');
}
