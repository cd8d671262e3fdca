import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment({ worker: 'real' });
});
afterAll(() => deployment?.close());

/**
 * Returns a thread whose graph was run once, by an assistant that names its node and as a run may name it otherwise.
 */
async function threadRunWith(run: { config?: object; context?: object } = {}) {
  const { client } = deployment;
  const assistant = await client.assistants.create({
    graphId: 'dynamic',
    config: { configurable: { node: 'assistants' } },
  });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, assistant.assistant_id, { input: { said: ['hi'] }, ...run });
  return thread_id;
}

async function says(threadId: string, node: string) {
  const { client } = deployment;
  await client.threads.updateState(threadId, { values: { said: ['written'] }, asNode: node });
  const [newest, before] = await client.threads.getHistory<{ said: string[] }>(threadId, { limit: 2 });
  expect(newest?.values.said).toEqual([...(before?.values.said ?? []), 'written']);
  expect(newest?.next).toEqual([]);
}

it('a thread is written to as a node that exists only under the configuration of its last run', async () => {
  const ofAssistant = await threadRunWith();
  await says(ofAssistant, 'assistants');
  const ofRun = await threadRunWith({ config: { configurable: { node: 'runs' } } });
  await says(ofRun, 'runs');
  // The update itself was no run: the run before it still counts.
  await says(ofRun, 'runs');
  await says(await threadRunWith({ context: { node: 'contexts' } }), 'contexts');
  await expect(says(ofRun, 'assistants')).rejects.toThrow('does not exist');
});

it('the newest run of a thread counts, and nothing of its configuration is stored with the thread', async () => {
  const { client } = deployment;
  const threadId = await threadRunWith({ config: { configurable: { node: 'first' } } });
  await client.runs.wait(threadId, 'dynamic', { input: {}, config: { configurable: { node: 'second' } } });
  await says(threadId, 'second');
  expect((await client.threads.get(threadId)).config).toEqual({});
});

it('a copy of a thread is written to like the thread it was made from', async () => {
  const { client } = deployment;
  const threadId = await threadRunWith({ config: { configurable: { node: 'runs' } } });
  const copy = await client.threads.copy(threadId);
  await says((copy as unknown as { thread_id: string }).thread_id, 'runs');
});

it('a thread whose last run is deleted is written to under the configuration of its assistant', async () => {
  const { client } = deployment;
  const threadId = await threadRunWith({ config: { configurable: { other: 1 } } });
  for (const { run_id } of await client.runs.list(threadId)) await client.runs.delete(threadId, run_id);
  await says(threadId, 'assistants');
});

it('a pruned thread whose newest state was written from outside still has the graph of its last run', async () => {
  const threadId = await threadRunWith({ config: { configurable: { node: 'runs' } } });
  await says(threadId, 'runs');
  const body = { thread_ids: [threadId], strategy: 'keep_latest' };
  expect((await ask(`${deployment.url}/threads/prune`, { body })).json).toEqual({ pruned_count: 1 });
  await deployment.client.threads.updateState(threadId, { values: { said: ['again'] }, asNode: 'runs' });
});

it('a thread that was never run has the graph that its factory makes without a configuration', async () => {
  const { thread_id } = await deployment.client.threads.create({ graphId: 'dynamic' });
  await says(thread_id, 'unnamed');
});
