import { randomUUID } from 'node:crypto';
import { type TestServiceProcess, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EncryptingDeployment, startEncryptingDeployment } from './encrypting-deployment.ts';
import { userHeaders } from './guarded-deployment.ts';
import { ask } from './raw-http.ts';

const CANARY = 'the-cat-is-in-the-kettle';
const METADATA = { colour: 'blue', private_note: CANARY, private_list: [{ deep: CANARY }] };
const UNAVAILABLE = {
  status: 503,
  headers: { 'retry-after': '5' },
  json: { detail: 'The project’s encryption is not available' },
};
/** Columns with JSON that is searched. */
const COLUMNS = [
  ['thread', 'metadata'],
  ['run', 'metadata'],
  ['cron', 'metadata'],
  ['assistant', 'metadata'],
  ['assistant', 'context'],
  ['assistant_version', 'metadata'],
  ['store_item', 'value'],
] as const;

let deployment: EncryptingDeployment;
beforeAll(async () => {
  deployment = await startEncryptingDeployment();
});
afterAll(() => deployment?.close());

interface Written {
  threadId: string;
  runId: string;
  cronId: string;
  assistantId: string;
}

/** Writes something of each kind for a user. */
async function writeAs(name: string): Promise<Written> {
  const { assistants, threads, runs, crons, store } = deployment.clientOf(name);
  const { thread_id: threadId } = await threads.create({ metadata: METADATA });
  await threads.update(threadId, { metadata: { private_more: CANARY } });
  const input = { messages: [{ type: 'human', content: 'hello' }] };
  const config = { metadata: { private_config: CANARY } } as Record<string, unknown>;
  const { run_id: runId } = await runs.create(threadId, 'echo', { input, metadata: METADATA, config });
  await runs.join(threadId, runId);
  await threads.updateState(threadId, { values: input });
  const made = await assistants.create({ graphId: 'echo', metadata: METADATA, context: { private_key: CANARY, n: 1 } });
  await assistants.update(made.assistant_id, { metadata: { private_more: CANARY } });
  const schedule = { schedule: '@yearly', input, metadata: METADATA };
  const { cron_id: cronId } = (await crons.createForThread(threadId, 'echo', schedule)) as unknown as {
    cron_id: string;
  };
  const change = { method: 'PATCH', body: { metadata: { private_more: CANARY } }, headers: userHeaders(name) };
  expect(await ask(`${deployment.url}/crons/${cronId}`, change)).toMatchObject({ status: 200 });
  await store.putItem(['notes'], 'k', { private_text: CANARY, shown: name, n: 7 });
  return { threadId, runId, cronId, assistantId: made.assistant_id };
}

/** Returns the tenants in whose contexts values of a column are encrypted. */
async function tenantsOf(table: string, column: string): Promise<string[]> {
  const { rows } = await deployment.pool.query<{ tenant: string }>(
    `SELECT DISTINCT k.context::jsonb ->> 'tenant' AS tenant
     FROM ${table} t CROSS JOIN LATERAL jsonb_each_text(t.${column}) AS e
     JOIN encryption_key k ON k.key_id = substring(decode(substring(e.value FROM 16), 'base64') FROM 2 FOR 16)
     WHERE e.value LIKE 'encrypted.json:%' ORDER BY 1`,
  );
  return rows.map(({ tenant }) => tenant);
}

describe('with handlers for JSON in encryption.path', () => {
  let ada: Written;
  /** A process that reads what the first one wrote. */
  let reader: TestServiceProcess;
  beforeAll(async () => {
    ada = await writeAs('ada');
    await writeAs('bob');
  });

  it('nothing of what the handlers chose can be read in the database, in Redis, on the bus or in logs', async () => {
    const contents = await deployment.contents();
    for (const known of [ada.threadId, 'blue', 'private_note', 'private_more']) expect(contents).toContain(known);
    expect(await deployment.leaksOf(CANARY)).toEqual([]);
  });

  it.each(COLUMNS)(
    'values of the column %s.%s are encrypted in the context of who wrote them',
    async (table, column) => {
      expect(await tenantsOf(table, column)).toEqual(['ada', 'bob']);
    },
  );

  it('the metadata of checkpoints is searched by what the handlers left', async () => {
    expect(await tenantsOf('checkpoint', 'metadata')).toEqual(['ada', 'bob']);
    const history = await deployment
      .clientOf('ada')
      .threads.getHistory(ada.threadId, { metadata: { run_id: ada.runId } });
    expect(history.length).toBeGreaterThan(1);
    expect(history[0]).toMatchObject({ metadata: { private_config: CANARY } });
    const refused = ask(`${deployment.url}/threads/${ada.threadId}/history`, {
      body: { metadata: { private_config: CANARY } },
      headers: userHeaders('ada'),
    });
    expect(await refused).toMatchObject({ status: 422 });
  });

  it('users read everything as it was, also from a process that has not seen it', async () => {
    reader = await deployment.startAnother();
    for (const url of [deployment.url, reader.url]) {
      const { threads, runs, crons, store, assistants } = deployment.clientOf('ada', url);
      const merged = { ...METADATA, private_more: CANARY };
      expect(await threads.get(ada.threadId)).toMatchObject({ metadata: merged });
      const found = await threads.search({ metadata: { colour: 'blue' }, ids: [ada.threadId] });
      expect(found).toMatchObject([{ metadata: merged }]);
      expect(await runs.get(ada.threadId, ada.runId)).toMatchObject({ metadata: METADATA });
      expect(await runs.list(ada.threadId)).toMatchObject([{ metadata: METADATA }]);
      expect(await crons.search({ threadId: ada.threadId })).toMatchObject([{ metadata: merged }]);
      expect(await assistants.search({ metadata: { colour: 'blue' } })).toMatchObject([
        { metadata: merged, context: { private_key: CANARY, n: 1 } },
      ]);
      expect(await assistants.getVersions(ada.assistantId)).toMatchObject([
        { metadata: merged },
        { metadata: METADATA },
      ]);
      const { items } = await store.searchItems(['notes'], { filter: { shown: 'ada', n: { $gt: 6 } } });
      expect(items).toMatchObject([{ value: { private_text: CANARY } }]);
      expect(await store.getItem(['notes'], 'k')).toMatchObject({ value: { private_text: CANARY, shown: 'ada' } });
      const copy = await threads.copy(ada.threadId);
      expect(await threads.get((copy as unknown as { thread_id: string }).thread_id)).toMatchObject({
        metadata: merged,
      });
    }
  });

  it('runs get the values of their assistant as they were', async () => {
    const run = await deployment
      .clientOf('ada')
      .runs.create(ada.threadId, ada.assistantId, { input: { messages: [] } });
    expect(run).toMatchObject({ metadata: METADATA, kwargs: { context: { private_key: CANARY } } });
  });

  it('the runs of a cron get its values, encrypted as the cron is', async () => {
    const { pool } = deployment;
    await pool.query("UPDATE cron SET next_run_date = now() - interval '1 second' WHERE cron_id = $1", [ada.cronId]);
    // Any change of a cron wakes the scheduler: this one is of somebody else.
    await deployment.clientOf('bob').crons.create('echo', { schedule: '@yearly' });
    const run = await waitFor(
      async () => {
        const text = "SELECT run_id, metadata FROM run WHERE metadata->>'cron_id' = $1 AND status = 'success'";
        return (await pool.query(text, [ada.cronId])).rows[0];
      },
      { what: 'the run of the cron' },
    );
    expect(run.metadata).toMatchObject({ colour: 'blue', private_note: expect.stringMatching(/^encrypted\.json:/) });
    expect(await deployment.clientOf('ada').runs.get(ada.threadId, run.run_id)).toMatchObject({ metadata: METADATA });
    expect(await tenantsOf('run', 'metadata')).toEqual(['ada', 'bob']);
  });

  it('a search by a value that the handlers encrypt is refused, since it would find nothing', async () => {
    const headers = userHeaders('ada');
    const metadata = { colour: 'blue', private_note: CANARY };
    const searches = {
      '/threads/search': { metadata },
      '/threads/count': { metadata },
      '/assistants/search': { metadata },
      '/runs/crons/search': { metadata },
      '/store/items/search': { namespace_prefix: ['notes'], filter: { private_text: { $ne: CANARY } } },
    };
    for (const [path, body] of Object.entries(searches)) {
      const answer = await ask(deployment.url + path, { body, headers });
      expect([path, answer.status, answer.text]).toEqual([path, 422, expect.stringContaining('is encrypted at rest')]);
    }
  });

  it('rows from before stay readable, and what is written again is encrypted', async () => {
    const { threads } = deployment.clientOf('ada');
    const { thread_id: threadId } = await threads.create();
    const before = { private_old: 'plain', private_note: 'plain' };
    await deployment.pool.query('UPDATE thread SET metadata = metadata || $2::jsonb WHERE thread_id = $1', [
      threadId,
      before,
    ]);
    expect(await threads.get(threadId)).toMatchObject({ metadata: before });
    await threads.update(threadId, { metadata: { private_note: CANARY } });
    expect(await threads.get(threadId)).toMatchObject({ metadata: { ...before, private_note: CANARY } });
    const { rows } = await deployment.pool.query('SELECT metadata FROM thread WHERE thread_id = $1', [threadId]);
    expect(rows[0].metadata).toMatchObject({
      private_old: 'plain',
      private_note: expect.stringMatching(/^encrypted\.json:/),
    });
  });

  it('values of two contexts in one object are both readable', async () => {
    const { threads } = deployment.clientOf('ada');
    const { thread_id: threadId } = await threads.create({ metadata: { private_a: 1, private_b: 1 } });
    const headers = { ...userHeaders('ada'), 'x-tenant': 'project-x' };
    const body = { metadata: { private_b: 2 } };
    expect(await ask(`${deployment.url}/threads/${threadId}`, { method: 'PATCH', body, headers })).toMatchObject({
      status: 200,
    });
    const { metadata } = await deployment.clientOf('ada', reader.url).threads.get(threadId);
    expect(metadata).toMatchObject({ private_a: 1, private_b: 2 });
  });

  it.each([
    ['refuse-json', 'thread.metadata of refuse-json is refused'],
    ['drop-json', 'encrypt.json added or dropped keys'],
    ['hang-json', 'encrypt.json gave no answer: no answer in 5 s'],
  ])('handlers that %s make writes 503, and nothing is written', async (tenant, reason) => {
    await deployment.order({ [tenant]: tenant });
    const headers = { ...userHeaders('bob'), 'x-tenant': tenant };
    const { thread_id: threadId } = await deployment.clientOf('bob').threads.create({ metadata: { kept: 1 } });
    const item = { namespace: ['failed'], key: tenant, value: METADATA };
    const metadata = { ...METADATA, tried: tenant };
    const run = { assistant_id: 'echo', metadata, input: { messages: [] } };
    const requests: [string, string, Record<string, unknown>][] = [
      ['POST', '/threads', { metadata }],
      ['PATCH', `/threads/${threadId}`, { metadata }],
      ['POST', `/threads/${threadId}/runs`, run],
      ['POST', '/runs/wait', run],
      ['POST', '/runs/crons', { ...run, schedule: '@yearly' }],
      ['POST', '/assistants', { graph_id: 'echo', metadata }],
      ['PUT', '/store/items', item],
      ['POST', '/threads/search', { metadata }],
      ['POST', '/store/items/search', { namespace_prefix: ['notes'], filter: { private_text: 'a' } }],
    ];
    for (const [method, path, body] of requests) {
      const answer = await ask(deployment.url + path, { method, body, headers });
      expect({ path, ...answer }).toMatchObject({ path, ...UNAVAILABLE });
    }
    for (const table of ['thread', 'run', 'cron', 'assistant']) {
      const { rows } = await deployment.pool.query(`SELECT 1 FROM ${table} WHERE metadata ->> 'tried' = $1`, [tenant]);
      expect([table, rows]).toEqual([table, []]);
    }
    expect(await deployment.clientOf('bob').store.getItem(['failed'], tenant)).toBeNull();
    expect(await deployment.contents()).toContain(reason);
    // Nobody else notices.
    await deployment.clientOf('bob').threads.update(threadId, { metadata: METADATA });
    await deployment.order({});
  });

  it('values that another process cannot decrypt are shown as such, and others as they are', async () => {
    await deployment.order({ ada: 'refuse-json' });
    const another = await deployment.startAnother();
    const { threads, store } = deployment.clientOf('ada', another.url);
    const shown = { colour: 'blue', private_note: { __error__: { error: 'SealingError' } } };
    expect(await threads.search({ ids: [ada.threadId] })).toMatchObject([{ metadata: shown }]);
    const headers = userHeaders('ada');
    const read = await ask(`${another.url}/threads/${ada.threadId}`, { headers });
    expect(read).toMatchObject({ status: 503, json: { detail: expect.stringContaining('"encryption.path"') } });
    await expect(store.getItem(['notes'], 'k')).rejects.toMatchObject({ status: 503 });
    expect((await store.searchItems(['notes'])).items).toMatchObject([
      { value: { private_text: { __error__: {} }, shown: 'ada' } },
    ]);
    expect(
      await deployment.clientOf('bob', another.url).threads.search({ metadata: { colour: 'blue' } }),
    ).not.toHaveLength(0);
    await waitFor(() => another.output().includes('of ada is refused'), { what: 'the reason in the log' });
    await deployment.order({});
    await waitFor(async () => (await ask(`${another.url}/threads/${ada.threadId}`, { headers })).status === 200, {
      what: 'the handlers to be asked again',
    });
  });

  it('an answer that is repeated for its idempotency key stays the same', async () => {
    const headers = { ...userHeaders('ada'), 'idempotency-key': randomUUID() };
    const send = () => ask(`${deployment.url}/threads`, { body: { metadata: METADATA }, headers });
    const [first, second] = [await send(), await send()];
    expect(second.json).toEqual(first.json);
    expect(first.json).toMatchObject({ metadata: METADATA });
  });
});
