/*
 * demo.mjs - the menu of the demos, and what runs one: each is a module of demos/ with a title and a
 * play(stage), tells what it does step by step with the commands it runs, and checks it. The first
 * thing that is not as it says ends it with exit code 1, so each is a test as well.
 *
 *     node demo.mjs              lists the demos and runs one: the first, or the one chosen
 *     node demo.mjs NUMBER       runs that one
 *     node demo.mjs list         lists them
 *
 * With DEMO_PAUSE=1 it waits for Enter between the steps. SIGHUP, SIGINT and SIGTERM end it with all
 * that it started, and with exit code 128 + the signal's number.
 */
import { ask, green, Interruption, red, Stage, yellow } from './lib/stage.mjs';

const DEMOS = ['inside', 'room', 'consent', 'patience', 'death', 'contracts', 'memory', 'talk'];

function menu(demos) {
  console.log('demos (make demo DEMO=NUMBER):');
  demos.forEach(({ title }, number) => console.log(`   ${number}  ${title}`));
}

async function choose(word, demos) {
  if (word !== undefined && word !== '') return word;
  menu(demos);
  if (!process.stdin.isTTY || !process.stdout.isTTY) return '1';
  return (await ask('which one? [1] ')) || '1';
}

async function run({ title, play }, number) {
  const stage = new Stage(`demo ${number}: ${title}`);
  let fault;
  try {
    await Promise.race([play(stage), stage.interrupted]);
  } catch (error) {
    fault = (await stage.told()) ?? error;
    if (!(fault instanceof Interruption)) tell(fault, stage);
  }
  try {
    const seconds = await stage.close();
    if (!fault) {
      console.log(green(`\nall ${stage.steps} steps as promised, in ${seconds} s; nothing is left over`));
    }
  } catch (error) {
    fault ??= error;
    console.log(red(error.message));
  }
  if (fault instanceof Interruption) console.log(yellow(`\n${fault.message}; nothing is left over`));
  if (fault) process.exit(fault instanceof Interruption ? fault.code : 1);
}

function tell(error, stage) {
  console.log(red(`\nstep ${stage.steps} failed: ${error.message}`));
  if (error.code !== undefined || process.env.MCPX_DEMO_TRACE) console.error(error.stack);
}

async function load(names) {
  try {
    return await Promise.all(names.map((name) => import(`./demos/${name}.mjs`)));
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`${error.message}\nrun "tests/e2e/run.sh install" first`);
  }
}

try {
  const demos = await load(DEMOS);
  const word = await choose(process.argv[2], demos);
  if (word === 'list') menu(demos);
  else if (/^[0-9]+$/.test(word) && demos[word]) await run(demos[word], word);
  else {
    console.error(`there is no demo ${JSON.stringify(word)}`);
    menu(demos);
    process.exitCode = 2;
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
