/*
 * things.mjs - what clients do with servers: name -> function of a client of clients.mjs, and of a
 * signal that ends what is still under way afterwards, that returns what the client observed.
 */
import { WATCHED } from './offer.mjs';

/* What a tool that asks leads to: the questions that reached the client, and the result. */
async function questions(client, ...call) {
  const { content, isError } = await client.call(...call);
  return { asked: client.asked, content, isError };
}

/* Waits until a server that has this call says what it is doing, or until the call has ended. */
async function waits(client, call, what, signal) {
  call.catch(() => {});
  await Promise.race([call, client.call('until', { what }, { signal })]);
}

/*
 * Asks for a task and waits until the server works at it: `{ made, task }`, what comes of the request,
 * and the task if the answer to the request is one.
 */
async function begun(client, signal) {
  const made = client.task('job');
  await waits(client, made, 'working', signal);
  const task = await Promise.race([made, client.call('mark', { what: 'asked' })]);
  return { made, task: task.status ? task : undefined };
}

/* The number of an error, which a tool's result may also have in words. */
async function refusal(call) {
  const { content } = await call.catch(({ code }) => ({ content: [{ text: String(code) }] }));
  return /-32\d+/.exec(content[0].text)?.[0] ?? content;
}

export const THINGS = {
  list: (client) => client.list(),
  call: (client) => client.call('echo', { text: 'grüße \u0001 🦊' }),
  'structured result': (client) => client.call('sum', { a: 2, b: 40.5 }),
  progress: async (client, signal) => {
    const steps = [];
    let last;
    const third = new Promise((done) => { last = done; });
    const call = client.call('steps', {}, { signal, onprogress: (step) => {
      steps.push(step);
      if (steps.length === 3) last();
    } });
    await Promise.race([third, call]);
    await client.call('mark', { what: 'go' });
    return { steps, result: await call };
  },
  cancel: async (client, signal) => {
    const own = new AbortController();
    const call = client.call('hang', {}, { signal: own.signal });
    await waits(client, call, 'hanging', signal);
    own.abort();
    return call.catch(() => client.call('until', { what: 'cancelled' }, { signal }));
  },
  'elicitation accepted': (client) => questions(client, 'ask', { times: 1 }),
  'elicitation declined': (client) => {
    client.action = 'decline';
    return questions(client, 'ask', { times: 1 });
  },
  'asked twice': (client) => questions(client, 'ask', { times: 2 }),
  sampling: (client) => questions(client, 'sample'),
  roots: (client) => questions(client, 'roots'),
  task: async (client, signal) => {
    const { made, task } = await begun(client, signal);
    const states = task ? [task.status, await task.get()] : [];
    await client.call('finish');
    if (task) states.push(await task.end());
    return { states, result: (await (await made).result()).content };
  },
  'task only': async (client, signal) => {
    const call = client.insist('job_only');
    await waits(client, call, 'working', signal);
    await client.call('finish');
    const { content, isError } = await call;
    return { content, isError };
  },
  'task cancelled': async (client, signal) => {
    const { task } = await begun(client, signal);
    if (!task) {
      await client.call('finish');
      throw new Error('no task');
    }
    await task.cancel();
    return task.end();
  },
  'resource read': (client) => client.sdk.readResource({ uri: 'mem:///note' }),
  'resource subscription': async (client) => {
    const end = await client.listen(WATCHED);
    await client.call('touch');
    const { params } = await client.told('resources/updated');
    await end();
    return params.uri;
  },
  'list change': async (client) => {
    const ends = await Promise.all([client.listen(), client.listen(WATCHED)]);
    await client.call('grow');
    await client.told('tools/list_changed');
    await client.call('touch');
    await client.told('resources/updated');
    await Promise.all(ends.map((end) => end()));
    const tools = (await client.list()).tools.map(({ name }) => name);
    return { tools, heard: client.notices.map(({ method }) => method) };
  },
  prompt: (client) => client.sdk.getPrompt(
    { name: client.shown('travel'), arguments: { city: 'Basel' } }),
  completion: (client) => client.sdk.complete(
    { ref: { type: 'ref/prompt', name: client.shown('travel') }, argument: { name: 'city', value: 'B' } }),
  'log at a level': async (client) => {
    await client.level('warning');
    await client.call('log');
    await client.told('message', ({ level }) => level === 'error');
    return client.notices.filter(({ method }) => method === 'notifications/message');
  },
  'unknown tool': (client) => refusal(client.call('nothing')),
  'missing resource': (client) => client.sdk.readResource({ uri: 'mem:///nothing' }),
};
