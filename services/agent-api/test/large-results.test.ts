import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2aClient, type Json, says, V1 } from './a2a-client.ts';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, open } from './raw-http.ts';

const MIB = 1024 * 1024;
/** More than the system buffers for two ends of a connection: a client that reads nothing keeps it in the service. */
const RESULT_BYTES = 16 * MIB;
const BUDGET_BYTES = 24 * MIB;
const JOINS = 50;

let deployment: TestDeployment;
beforeAll(async () => {
  const LANGSERVE_GRAPHS = JSON.stringify({ echo: './graphs/carried-schemas.ts:echo' });
  deployment = await startDeployment({ env: { HTTP_MAX_RESULT_BYTES_IN_FLIGHT: `${BUDGET_BYTES}`, LANGSERVE_GRAPHS } });
});
afterAll(() => deployment?.close());

interface Place {
  threadId: string;
  runId: string;
}

const joinUrl = ({ threadId, runId }: Place) => `${deployment.url}/threads/${threadId}/runs/${runId}/join`;
const LARGE = `"${'a'.repeat(RESULT_BYTES - 2)}"`;

async function startRun() {
  const { thread_id } = await deployment.client.threads.create();
  await ask(`${deployment.url}/threads/${thread_id}/runs`, { body: { assistant_id: 'echo', input: {} } });
  return deployment.worker.take();
}

/** Ends a run with a result of so many bytes, which the database generates itself. */
async function end(run: FakeRun, bytes = RESULT_BYTES): Promise<Place> {
  const { runId } = run.claimed;
  await run.finishUnpublished('success', {}, null);
  const result = `convert_to('"' || repeat('a', $2 - 2) || '"', 'utf8')`;
  await deployment.pool.query(`UPDATE run SET result = ${result} WHERE run_id = $1`, [runId, bytes]);
  await run.publishEnd('{"status":"success"}');
  return run.claimed;
}

const endedRun = async (bytes?: number) => end(await startRun(), bytes);

/** A client that has the beginning of the answer and reads no further. */
async function slowJoin(place: Place) {
  const answer = await open(joinUrl(place));
  answer.stopReading();
  return answer;
}

async function metric(name: string): Promise<number> {
  const { text } = await ask(`${deployment.url}/metrics`);
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
}
const held = () => metric('lg_api_results_held_bytes');
const residentBytes = () => metric('process_resident_memory_bytes');

describe('a large result', () => {
  it('is held once for fifty clients that join its run at the same time, however slowly they read', async () => {
    const place = await endedRun();
    // The first reading pays for its own memory and garbage before the others come.
    await (await open(joinUrl(place))).complete;
    const before = await residentBytes();
    const answers = await Promise.all(Array.from({ length: JOINS }, () => slowJoin(place)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // Garbage goes in time, and what is held for these clients stays until they have read it.
    await waitFor(async () => (await residentBytes()) - before < 8 * RESULT_BYTES, { what: 'memory without garbage' });
    expect(await held()).toBe(RESULT_BYTES);
    const [one, ...others] = answers;
    for (const other of others) other.hangUp();
    one!.readOn();
    expect((await one!.complete).trim() === LARGE).toBe(true);
  });

  it('is refused with 503 and Retry-After while others fill the budget, and small ones are not', async () => {
    const [first, second, small] = [await endedRun(), await endedRun(), await endedRun(7)];
    const reader = await slowJoin(first);
    const refused = await ask(joinUrl(second));
    expect(refused.status).toBe(503);
    expect(refused.json).toEqual({ detail: expect.any(String) });
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect((await ask(joinUrl(small))).text).toBe('"aaaaa"');
    expect(await metric('lg_api_http_requests_refused_total')).toBe(1);
    reader.readOn();
    await reader.complete;
    expect((await ask(joinUrl(second))).text.trim() === LARGE).toBe(true);
  });

  it('is waited for by a client that has waited for its run, until those who fill the budget are done', async () => {
    const first = await endedRun();
    const run = await startRun();
    const waiting = await open(joinUrl(run.claimed));
    const reader = await slowJoin(first);
    await end(run);
    // The answer has its heartbeat, and nothing else yet.
    await waiting.until('\n');
    expect(waiting.text.trim()).toBe('');
    reader.hangUp();
    expect((await waiting.complete).trim() === LARGE).toBe(true);
    expect(await held()).toBe(0);
  });
});

describe('a large state that a call of MCP ends with', () => {
  const STATE_BYTES = 7 * MIB;
  const params = { name: 'echo', arguments: { messages: 'hi' } };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };

  /** Makes a call, whose run ends with a state that the database generates. */
  async function callTool(accept: string) {
    const answer = open(`${deployment.url}/mcp`, { body, headers: { accept, 'mcp-protocol-version': '2025-11-25' } });
    const run = await deployment.worker.take();
    await run.finishUnpublished('success', {}, null);
    const state = `convert_to('{"text":"' || repeat('a', $2 - 11) || '"}', 'utf8')`;
    await deployment.pool.query(`UPDATE run SET result = ${state} WHERE run_id = $1`, [run.claimed.runId, STATE_BYTES]);
    await run.publishEnd('{"status":"success"}');
    return { answer, run };
  }

  it('counts with all its copies until the client has read them, and its thread is deleted then', async () => {
    const first = await callTool('application/json');
    const reader = await first.answer;
    reader.stopReading();
    expect(await held()).toBe(3 * STATE_BYTES);
    const second = await callTool('text/event-stream');
    expect(await held()).toBe(3 * STATE_BYTES);
    reader.hangUp();
    const [, data] = /^data: (.*)$/m.exec(await (await second.answer).complete)!;
    const { content, structuredContent } = JSON.parse(data!).result;
    expect(structuredContent.text).toHaveLength(STATE_BYTES - 11);
    expect(content[0].text === JSON.stringify(structuredContent)).toBe(true);
    await waitFor(async () => (await held()) === 0, { what: 'the budget given back' });
    const { threadId } = second.run.claimed;
    await waitFor(async () => (await ask(`${deployment.url}/threads/${threadId}`)).status === 404, {
      what: 'no thread',
    });
  });
});

describe('tasks with large content', () => {
  /** Two of them, which are held twice each, fill most of the budget. */
  const STATE_BYTES = 5 * MIB;
  const later = { configuration: { returnImmediately: true } };
  let a2a: A2aClient;
  beforeAll(() => {
    a2a = new A2aClient(deployment);
  });

  /** Makes tasks of one context whose states the database generates. Returns their ids, the newest first. */
  async function endTasks(contextId: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { id } = (await a2a.rpc('SendMessage', { ...says('x', { contextId }), ...later })).result.task;
      await (await deployment.worker.take()).succeed({});
      ids.unshift(id);
    }
    const result = `convert_to('{"text":"' || repeat('a', $2 - 11) || '"}', 'utf8')`;
    await deployment.pool.query(`UPDATE run SET result = ${result} WHERE run_id = ANY($1)`, [ids, STATE_BYTES]);
    return ids;
  }

  it('are listed in pages that end before they are too much, and each names the next one', async () => {
    const contextId = randomUUID();
    const ids = await endTasks(contextId, 5);
    const pages: string[][] = [];
    let pageToken: string | undefined;
    do {
      const { tasks, nextPageToken } = (
        await a2a.rpc('ListTasks', { contextId, includeArtifacts: true, ...(pageToken && { pageToken }) })
      ).result;
      pages.push(tasks.map(({ id }: Json) => id));
      for (const { artifacts } of tasks) expect(artifacts[0].parts[0].data.text).toHaveLength(STATE_BYTES - 11);
      pageToken = nextPageToken;
    } while (pageToken);
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    const { tasks } = (await a2a.rpc('ListTasks', { contextId })).result;
    expect(tasks.map(({ id }: Json) => id)).toEqual(ids);
    await waitFor(async () => (await held()) === 0, { what: 'the budget given back' });
  });

  it('wait for each other in all answers, and count until their clients have read them', async () => {
    const contextId = randomUUID();
    const [id] = await endTasks(contextId, 2);
    const page = await open(`${a2a.base}/tasks?contextId=${contextId}&includeArtifacts=true`, { headers: V1 });
    page.stopReading();
    expect(await held()).toBeGreaterThan(4 * STATE_BYTES);
    expect(await held()).toBeLessThan(BUDGET_BYTES);
    const task = open(`${a2a.base}/tasks/${id}`, { headers: V1 });
    page.hangUp();
    await (await task).complete;
    await waitFor(async () => (await held()) === 0, { what: 'the budget given back' });
  });

  it('count for a stream only until its first event is out', async () => {
    const { id } = await a2a.askBack();
    const values = `convert_to('{"text":"' || repeat('a', $2) || '","__interrupt__":[{"id":"i1","value":"Sure?"}]}', 'utf8')`;
    await deployment.pool.query(`UPDATE run SET result = ${values} WHERE run_id = $1`, [id, STATE_BYTES]);
    const waiting = await open(`${a2a.base}/tasks/${id}:subscribe`, { headers: V1 });
    await waiting.until('Sure?');
    await waitFor(async () => (await held()) === 0, { what: 'the budget given back' });
    waiting.hangUp();
  });
});

describe('a list of large rows', () => {
  const ROW_BYTES = 7 * MIB;
  const mark = { kind: 'large' };
  /** Compressed, it takes a hundredth of that. */
  const grown = `jsonb_build_object('text', repeat('a', ${ROW_BYTES}))`;
  const five = <T>(make: (n: number) => Promise<T>) => Promise.all([1, 2, 3, 4, 5].map(make));
  const makeThread = () => deployment.client.threads.create({ metadata: mark });

  const lists: [string, () => Promise<(limit: number) => ReturnType<typeof ask>>][] = [
    [
      'assistants',
      async () => {
        await five(() => deployment.client.assistants.create({ graphId: 'echo', metadata: mark }));
        await deployment.pool.query(`UPDATE assistant SET context = ${grown} WHERE metadata @> $1`, [mark]);
        return (limit) => ask(`${deployment.url}/assistants/search`, { body: { metadata: mark, limit } });
      },
    ],
    [
      'versions of an assistant',
      async () => {
        const { assistant_id: id } = await deployment.client.assistants.create({ graphId: 'echo' });
        for (let n = 0; n < 4; n += 1) await deployment.client.assistants.update(id, { metadata: { n } });
        await deployment.pool.query(`UPDATE assistant_version SET config = ${grown} WHERE assistant_id = $1`, [id]);
        return (limit) => ask(`${deployment.url}/assistants/${id}/versions`, { body: { limit } });
      },
    ],
    [
      'crons',
      async () => {
        await five(() => deployment.client.crons.create('echo', { schedule: '0 0 1 1 *', metadata: mark }));
        await deployment.pool.query(`UPDATE cron SET metadata = metadata || ${grown}`);
        return (limit) => ask(`${deployment.url}/runs/crons/search`, { body: { metadata: mark, limit } });
      },
    ],
    [
      'items of the store',
      async () => {
        await five((n) => deployment.client.store.putItem(['large'], `${n}`, mark));
        await deployment.pool.query(`UPDATE store_item SET value = value || ${grown}`);
        return (limit) => ask(`${deployment.url}/store/items/search`, { body: { namespace_prefix: ['large'], limit } });
      },
    ],
    [
      'runs of a thread',
      async () => {
        const { thread_id: id } = await makeThread();
        const body = { assistant_id: 'echo', multitask_strategy: 'enqueue', after_seconds: 3_600 };
        for (let n = 0; n < 5; n += 1) await ask(`${deployment.url}/threads/${id}/runs`, { body });
        await deployment.pool.query(`UPDATE run SET metadata = ${grown} WHERE thread_id = $1`, [id]);
        return (limit) => ask(`${deployment.url}/threads/${id}/runs?select=metadata&limit=${limit}`);
      },
    ],
  ];

  it.each(lists)('is refused where one answer would have too much, and smaller ones are not (%s)', async (_, make) => {
    const list = await make();
    const refused = await list(10);
    expect(refused).toMatchObject({ status: 413, json: { detail: expect.stringContaining('smaller limit') } });
    expect((await list(2)).status).toBe(200);
    await waitFor(async () => (await held()) === 0, { what: 'the budget given back' });
  });

  it('ends early where it is a page of threads, by what their metadata have too, and names the next one', async () => {
    await five(makeThread);
    await deployment.pool.query(`UPDATE thread SET metadata = metadata || ${grown} WHERE metadata @> $1`, [mark]);
    const body = { metadata: mark, limit: 10, select: ['thread_id'] };
    const first = await ask(`${deployment.url}/threads/search`, { body });
    expect(first.json).toHaveLength(4);
    expect(first.headers['x-pagination-next']).toBe('4');
    await deployment.pool.query('DELETE FROM thread WHERE metadata @> $1', [mark]);
  });

  it('waits for others that fill the budget, and counts until its client has read it', async () => {
    const { thread_id: id } = await deployment.client.threads.create();
    const state = `convert_to('{"text":"' || repeat('a', $2) || '"}', 'utf8')`;
    await deployment.pool.query(
      `INSERT INTO thread_state (thread_id, "values") VALUES ($1, ${state})
      ON CONFLICT (thread_id) DO UPDATE SET "values" = excluded."values"`,
      [id, RESULT_BYTES],
    );
    const searchThread = () => open(`${deployment.url}/threads/search`, { body: { ids: [id] } });
    const first = await searchThread();
    first.stopReading();
    expect(await held()).toBeGreaterThan(RESULT_BYTES);
    const second = searchThread();
    first.hangUp();
    expect((await (await second).complete).length).toBeGreaterThan(RESULT_BYTES);
    await waitFor(async () => (await held()) === 0, { what: 'the budget given back' });
  });
});

it('a large state is read for one message of AG-UI at a time, and waits for others that fill the budget', async () => {
  const { thread_id: threadId } = await deployment.client.threads.create();
  const start = async () => {
    const body = { threadId, runId: randomUUID(), messages: [], state: {}, tools: [], context: [] };
    const answer = await open(`${deployment.url}/agui/echo`, { body });
    return { answer, run: await deployment.worker.take() };
  };
  const first = await start();
  await first.run.succeed({});
  await first.answer.complete;
  const state = `convert_to('{"text":"' || repeat('a', $2) || '"}', 'utf8')`;
  await deployment.pool.query(`UPDATE thread_state SET "values" = ${state} WHERE thread_id = $1`, [threadId, 9 * MIB]);
  const reader = await slowJoin(await endedRun());
  const second = start();
  await waitFor(async () => (await held()) === RESULT_BYTES, { what: 'the budget taken by the reader' });
  reader.hangUp();
  const { answer, run } = await second;
  // Nothing of the state is held while the run goes on.
  expect(await held()).toBe(0);
  await run.succeed({});
  await answer.complete;
});
