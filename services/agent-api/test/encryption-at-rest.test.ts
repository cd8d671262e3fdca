import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

const CANARY = 'the-cat-is-in-the-kettle';
const KEYS = { LANGGRAPH_AES_KEY: 'k'.repeat(32), LANGGRAPH_AES_JSON_KEYS: 'secret,text' };
/** Metadata with one key that is encrypted, and one that is searched by. */
const METADATA = { owner: 'ada', nested: [{ secret: { word: CANARY } }] };
const INPUT = { messages: [{ type: 'human', content: CANARY }] };

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment({ worker: 'real', env: KEYS });
});
afterAll(() => deployment?.close());

describe('with LANGGRAPH_AES_KEY and LANGGRAPH_AES_JSON_KEYS', () => {
  let threadId: string;
  let assistantId: string;
  let runId: string;
  let events: string;
  beforeAll(async () => {
    const { assistants, threads, runs, crons, store } = deployment.client;
    const settings = { metadata: METADATA, config: { configurable: { secret: CANARY } } };
    assistantId = (await assistants.create({ graphId: 'echo', ...settings, name: 'A' })).assistant_id;
    await assistants.update(assistantId, { metadata: { more: 1 } });
    threadId = (await threads.create({ metadata: METADATA })).thread_id;
    await threads.update(threadId, { metadata: { secret: CANARY } });
    const run = { ...settings, input: INPUT, streamMode: ['values', 'messages'] as ['values', 'messages'] };
    const chunks: unknown[] = [];
    for await (const chunk of runs.stream(threadId, assistantId, { ...run, streamResumable: true })) chunks.push(chunk);
    events = JSON.stringify(chunks);
    runId = (await runs.list(threadId))[0]!.run_id;
    await threads.updateState(threadId, { values: INPUT });
    await threads.copy(threadId);
    const body = { assistant_id: assistantId, ...settings, input: INPUT, on_completion: 'keep' };
    await ask(`${deployment.url}/runs/wait`, { body });
    await crons.createForThread(threadId, assistantId, { ...settings, schedule: '@yearly', input: INPUT });
    await store.putItem(['of', 'ada'], 'k', { secret: CANARY, text: CANARY, shown: 1 });
  });

  it('nothing of what clients said can be read in the database, in Redis, on the bus or in logs', async () => {
    const contents = await deployment.contents();
    for (const known of [threadId, runId, 'ada', '"shown": 1', 'run.started']) expect(contents).toContain(known);
    // The database shows bytes in hexadecimal.
    const forms = [CANARY, Buffer.from(CANARY).toString('hex')];
    const leaks = contents.split('\n').filter((line) => forms.some((form) => line.includes(form)));
    expect(leaks.map((line) => line.slice(0, 500))).toEqual([]);
  });

  it('clients read it as it was, in answers, in lists, in histories and in streams', async () => {
    const { assistants, threads, runs, crons, store } = deployment.client;
    const metadata = expect.objectContaining(METADATA);
    expect(events).toContain(CANARY);
    expect(await assistants.get(assistantId)).toMatchObject({ metadata: { ...METADATA, more: 1 } });
    expect(await assistants.getVersions(assistantId)).toMatchObject([{ metadata }, { metadata }]);
    expect(await assistants.search({ metadata: { more: 1 } })).toMatchObject([
      { config: { configurable: { secret: CANARY } } },
    ]);
    expect(await threads.get(threadId)).toMatchObject({ metadata: { ...METADATA, secret: CANARY } });
    expect(await threads.search({ metadata: { owner: 'ada' } })).toHaveLength(3);
    const history = await threads.getHistory(threadId, { metadata: { run_id: runId } });
    expect(history.length).toBeGreaterThan(1);
    for (const state of history) expect(state.metadata).toMatchObject(METADATA);
    expect(await runs.get(threadId, runId)).toMatchObject({ metadata, kwargs: { input: INPUT } });
    expect(await crons.search({ threadId })).toMatchObject([{ metadata, payload: { input: INPUT } }]);
    const value = { secret: CANARY, text: CANARY, shown: 1 };
    expect(await store.getItem(['of', 'ada'], 'k')).toMatchObject({ value });
    expect((await store.searchItems(['of'], { filter: { shown: 1 } })).items).toMatchObject([{ value }]);
    // Texts are embedded before they are encrypted.
    expect((await store.searchItems(['of'], { query: CANARY })).items).toMatchObject([
      { value, score: expect.closeTo(1) },
    ]);
  });

  it.each([
    ['/threads/search', { metadata: { secret: CANARY } }],
    ['/threads/count', { metadata: { nested: [{ secret: CANARY }] } }],
    ['/assistants/search', { metadata: { secret: CANARY } }],
    ['/assistants/count', { metadata: { secret: CANARY } }],
    ['/runs/crons/search', { metadata: { secret: CANARY } }],
    ['/runs/crons/count', { metadata: { secret: CANARY } }],
    ['/store/items/search', { namespace_prefix: ['of'], filter: { secret: CANARY } }],
  ])('a search at %s by an encrypted key is refused, since it would find nothing', async (path, body) => {
    const refused = { status: 422, json: { detail: expect.stringContaining('"secret" is encrypted at rest') } };
    expect(await ask(`${deployment.url}${path}`, { body })).toMatchObject(refused);
  });

  it('versions and histories are not searched by encrypted keys either', async () => {
    for (const path of [`/assistants/${assistantId}/versions`, `/threads/${threadId}/history`]) {
      const answer = await ask(`${deployment.url}${path}`, { body: { metadata: { secret: CANARY } } });
      expect(answer, path).toMatchObject({ status: 422 });
    }
  });
});
