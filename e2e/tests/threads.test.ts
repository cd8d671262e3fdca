import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const client = newClient();
const { threads, runs } = client;

const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });
const textsOf = (values: unknown) => (values as { messages: { content: string }[] }).messages.map((m) => m.content);

async function echoed(...texts: string[]): Promise<string> {
  const { thread_id } = await threads.create();
  for (const text of texts) await runs.wait(thread_id, 'echo', { input: human(text) });
  return thread_id;
}

it('a copy continues from the same history, and neither sees the other', async () => {
  const source = await echoed('one');
  const copy = await threads.copy(source);
  expect(copy).toMatchObject({ status: 'idle', metadata: { graph_id: 'echo' } });
  const [ofSource, ofCopy] = await Promise.all([source, copy.thread_id].map((id) => threads.getHistory(id)));
  expect(JSON.parse(JSON.stringify(ofCopy).replaceAll(copy.thread_id, source))).toEqual(ofSource);
  await runs.wait(copy.thread_id, 'echo', { input: human('two') });
  expect(textsOf((await threads.getState(copy.thread_id)).values)).toEqual(['one', 'echo: one', 'two', 'echo: two']);
  expect(textsOf((await threads.getState(source)).values)).toEqual(['one', 'echo: one']);
});

it('a copy of a thread that waits for an answer is answered on its own', async () => {
  const { thread_id: source } = await threads.create();
  await runs.wait(source, 'consult', { input: { topic: 'tea' } });
  expect(await threads.get(source)).toMatchObject({ status: 'interrupted' });
  const { thread_id } = await threads.copy(source);
  expect((await threads.get(thread_id)).status).toBe('interrupted');
  const [state] = (await threads.getState(thread_id, undefined, { subgraphs: true })).tasks;
  expect(state?.interrupts[0]).toMatchObject({
    value: { question: 'What of tea?' },
    response_schema: { type: 'object', properties: { advice: { type: 'string' } } },
  });
  const answered = await runs.wait(thread_id, 'consult', { command: { resume: { advice: 'green' } } });
  expect(answered).toEqual({ topic: 'tea', advice: 'green' });
  expect((await threads.get(source)).status).toBe('interrupted');
});

it('a copy of a busy thread has what was committed', async () => {
  const { thread_id } = await threads.create();
  const stream = runs.stream(thread_id, 'slow', {
    input: { name: 'x', steps: 100, stepMs: 50 },
    streamMode: 'checkpoints',
  });
  for await (const { event } of stream) if (event === 'checkpoints') break;
  const copy = await threads.copy(thread_id);
  expect(copy.status).toBe('idle');
  const [newest] = await threads.getHistory(copy.thread_id, { limit: 1 });
  expect(newest?.checkpoint.thread_id).toBe(copy.thread_id);
  await threads.delete(thread_id);
  expect((await threads.getHistory(copy.thread_id)).length).toBeGreaterThan(0);
});

it('history is pruned and the thread continues; another is removed as a whole', async () => {
  const [kept, gone] = [await echoed('one', 'two'), await echoed('one')];
  expect(await threads.prune([kept, randomUUID()], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
  expect(await threads.getHistory(kept)).toHaveLength(1);
  await runs.wait(kept, 'echo', { input: human('three') });
  expect(textsOf((await threads.get(kept)).values)).toHaveLength(6);
  expect(await threads.prune([gone])).toEqual({ pruned_count: 1 });
  await expect(threads.get(gone)).rejects.toMatchObject({ status: 404 });
});

it('pruning a thread that waits inside another graph leaves it to be answered', async () => {
  const { thread_id } = await threads.create();
  await runs.wait(thread_id, 'consult', { input: { topic: 'tea' } });
  await threads.prune([thread_id], { strategy: 'keep_latest' });
  const answered = await runs.wait(thread_id, 'consult', { command: { resume: { advice: 'black' } } });
  expect(answered).toEqual({ topic: 'tea', advice: 'black' });
});

it('a ttl is given, returned and changed', async () => {
  const ttlOf = async (threadId: string) =>
    ((await threads.get(threadId, { include: ['ttl'] })) as { ttl?: { expires_at: string } }).ttl;
  const { thread_id } = await threads.create({ ttl: 60 });
  expect(await ttlOf(thread_id)).toMatchObject({ strategy: 'delete', ttl_minutes: 60 });
  await threads.update(thread_id, { metadata: {}, ttl: { ttl: 120, strategy: 'delete' } });
  expect(Date.parse((await ttlOf(thread_id))!.expires_at) - Date.now()).toBeGreaterThan(115 * 60_000);
});

it('a thread is migrated from another server by its history', async () => {
  const source = await echoed('one', 'two');
  const history = await threads.getHistory<{ messages: unknown[] }>(source, { limit: 100 });
  const steps = history.reverse().flatMap(({ metadata }) => {
    const writes = (metadata as { writes?: Record<string, never> }).writes ?? {};
    const updates = Object.entries(writes).map(([asNode, values]) => ({ asNode, values }));
    return updates.length > 0 ? [{ updates }] : [];
  });
  const { thread_id, status } = await threads.create({ graphId: 'echo', supersteps: steps });
  expect(status).toBe('idle');
  expect(textsOf((await threads.getState(thread_id)).values)).toEqual(textsOf((await threads.getState(source)).values));
});

it('threads are found by their content, page by page, and counted', async () => {
  const mark = randomUUID();
  const ids: string[] = [];
  for (const n of [1, 2, 3]) ids.push((await threads.create({ metadata: { mark, n } })).thread_id);
  const page = { metadata: { mark }, sortBy: 'created_at', sortOrder: 'asc', limit: 2 } as const;
  expect((await threads.search(page)).map((t) => t.thread_id)).toEqual(ids.slice(0, 2));
  expect((await threads.search({ ...page, offset: 2 })).map((t) => t.thread_id)).toEqual(ids.slice(2));
  expect(await threads.search({ metadata: { mark, n: 2 }, select: ['thread_id'] })).toEqual([{ thread_id: ids[1] }]);
  expect(await threads.count({ metadata: { mark } })).toBe(3);
});
