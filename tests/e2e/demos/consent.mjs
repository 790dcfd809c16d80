/*
 * consent.mjs - demo 2: an agent that may only propose, a router that tells it so, and a person who
 * decides.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMOS } from '../lib/stage.mjs';

export const title = 'consent: an agent may only propose, and a person says yes';

export async function play(stage) {
  const file = join(stage.folder, 'files/decision.txt');
  await stage.step('A room with a file server, and an agent that may propose and nothing else');
  await stage.router();
  await stage.run('mkdir files');
  await stage.import('files', 'mcp-server-filesystem files');
  await stage.token('agent', ['mcp/proposal:*']);
  const { out: may } = await stage.run('mcpxctl can --live --token-file agent.token '
    + 'mcp/request:tools/call:write_file', { code: 3 });
  stage.check(/alternative +mcp\/proposal:tools\/call:write_file/.test(may), 'so says the router');

  await stage.step('The agent tries, is refused, and proposes instead');
  const agent = await stage.start('agent', 'MCPX_TOKEN=$(cat agent.token) '
    + `node ${join(DEMOS, 'agent.mjs')} files ${file} "signed by a person"`);
  const [, proposal] = await agent.until(/its proposal is (\S+)/);
  stage.show('agent');
  stage.check(agent.lines.some((line) => line.includes('capability_violation')),
    'the refusal names what was wrong and what would be right');
  stage.check(!existsSync(file), 'there is no file');

  await stage.step('A person sees what waits, and decides');
  const { out: open } = await stage.run('mcpxctl proposals --as human');
  stage.check(open.includes('write_file') && open.includes('agent'), 'one proposal is open');
  const id = proposal.slice(0, 8);
  const [listed] = open.match(/\S+@[0-9a-f]{32}/);
  const asks = process.stdin.isTTY && process.stdout.isTTY;
  if (asks) stage.say('you are the person:');
  const approval = await stage.run(`mcpxctl approve --as human ${asks ? id : `--yes ${listed}`}`,
    { stdin: asks ? 'inherit' : 'ignore', code: null });
  if (approval.code === 3 && asks) {
    stage.check(!existsSync(file), 'you said no, and nothing was written');
    return;
  }
  stage.check(approval.code === 0, 'what was proposed is done');
  await agent.until(/agent hears: Successfully wrote/);
  await agent.end();
  stage.show('agent');
  stage.check(readFileSync(file, 'utf8') === 'signed by a person', 'the file is there');

  await stage.step('And it can be looked up who wanted, who agreed and what came of it');
  const { out: chain } = await stage.run(`mcpxctl chain --as human ${id}`);
  stage.check(/agent/.test(chain) && /human/.test(chain) && /files/.test(chain), 'all three are named');
  const { out: none } = await stage.run('mcpxctl proposals --as human');
  stage.check(!none.includes(id), 'nothing waits any more');
}
