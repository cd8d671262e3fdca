import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EncryptingDeployment, startEncryptingDeployment } from './encrypting-deployment.ts';
import { userHeaders } from './guarded-deployment.ts';
import { ask } from './raw-http.ts';

const CANARY = 'the-cat-is-in-the-kettle';
const INPUT = { messages: [{ type: 'human', content: CANARY }] };
const METADATA = { colour: 'blue', nested: [{ secret: CANARY }] };
/** Columns with content, by the table that has it. */
const COLUMNS = [
  ['run', 'kwargs'],
  ['run', 'result'],
  ['thread_state', 'values'],
  ['checkpoint', 'data'],
  ['checkpoint_blob', 'data'],
  ['checkpoint_write', 'data'],
  ['cron', 'payload'],
  ['a2a_push_config', 'secrets'],
] as const;

let deployment: EncryptingDeployment;
beforeAll(async () => {
  deployment = await startEncryptingDeployment({ LANGGRAPH_AES_JSON_KEYS: 'secret,note' });
});
afterAll(() => deployment?.close());

interface Written {
  threadId: string;
  runId: string;
  cronId: string;
  events: string;
}

/** Writes something of each kind for a user. */
async function writeAs(name: string): Promise<Written> {
  const { assistants, threads, runs, crons, store } = deployment.clientOf(name);
  const { thread_id: threadId } = await threads.create({ metadata: METADATA });
  const chunks: unknown[] = [];
  const run = { input: INPUT, metadata: METADATA, streamMode: ['values'] as ['values'], streamResumable: true };
  for await (const chunk of runs.stream(threadId, 'echo', run)) chunks.push(chunk);
  const runId = (await runs.list(threadId))[0]!.run_id;
  await threads.updateState(threadId, { values: INPUT });
  await assistants.create({ graphId: 'echo', metadata: METADATA, config: { configurable: { secret: CANARY } } });
  const schedule = { schedule: '@yearly', input: INPUT, metadata: METADATA };
  const { cron_id: cronId } = (await crons.createForThread(threadId, 'echo', schedule)) as unknown as {
    cron_id: string;
  };
  await store.putItem(['notes'], 'k', { secret: CANARY, shown: name });
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: CANARY }], contextId: threadId };
  const configuration = { taskPushNotificationConfig: { url: 'http://127.0.0.1:9/', token: CANARY } };
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } };
  const sent = await ask(`${deployment.url}/a2a/echo`, {
    body,
    headers: { ...userHeaders(name), 'a2a-version': '1.0' },
  });
  expect(sent.json).toMatchObject({ result: { task: { contextId: threadId } } });
  return { threadId, runId, cronId, events: JSON.stringify(chunks) };
}

/** Returns the contexts under whose keys a column of a thread's rows is encrypted. */
async function contextsOf(table: string, column: string, threadId: string): Promise<(string | null)[]> {
  const { rows } = await deployment.pool.query<{ context: string | null }>(
    `SELECT DISTINCT k.context FROM ${table} t
     LEFT JOIN encryption_key k ON k.key_id = substring(t."${column}" FROM 2 FOR 16)
     WHERE t.thread_id = $1 AND octet_length(t."${column}") > 0`,
    [threadId],
  );
  return rows.map(({ context }) => context);
}

describe('with encryption.path', () => {
  let ada: Written;
  let bob: Written;
  beforeAll(async () => {
    [ada, bob] = await Promise.all([writeAs('ada'), writeAs('bob')]);
  });

  it('nothing of what users said can be read in the database, in Redis, on the bus or in logs', async () => {
    const contents = await deployment.contents();
    for (const known of [ada.threadId, ada.runId, 'blue', '"shown": "ada"']) expect(contents).toContain(known);
    expect(await deployment.leaksOf(CANARY)).toEqual([]);
  });

  it('users read it as it was, also from a process that has not seen it', async () => {
    const another = await deployment.startAnother();
    for (const url of [deployment.url, another.url]) {
      const { threads, runs, crons, store, assistants } = deployment.clientOf('ada', url);
      expect(ada.events).toContain(CANARY);
      const joined: unknown[] = [];
      for await (const chunk of runs.joinStream(ada.threadId, ada.runId, { lastEventId: '-1' })) joined.push(chunk);
      expect(JSON.stringify(joined)).toContain(CANARY);
      expect(await threads.get(ada.threadId)).toMatchObject({ metadata: METADATA });
      expect(JSON.stringify((await threads.getState(ada.threadId)).values)).toContain(CANARY);
      expect(await threads.search({ metadata: { colour: 'blue' }, select: ['metadata', 'values'] })).toMatchObject([
        { metadata: METADATA, values: { messages: expect.any(Array) } },
      ]);
      expect(await runs.get(ada.threadId, ada.runId)).toMatchObject({ metadata: METADATA, kwargs: { input: INPUT } });
      expect(await crons.search({ threadId: ada.threadId })).toMatchObject([{ payload: { input: INPUT } }]);
      expect(await assistants.search({ metadata: { colour: 'blue' } })).toMatchObject([
        { config: { configurable: { secret: CANARY } } },
      ]);
      expect((await store.searchItems(['notes'], { filter: { shown: 'ada' } })).items).toMatchObject([
        { value: { secret: CANARY } },
      ]);
    }
  });

  it('a search by an encrypted key, or by values, is refused, since it would find nothing', async () => {
    const headers = userHeaders('ada');
    for (const body of [{ metadata: { secret: CANARY } }, { values: { a: 1 } }]) {
      expect(await ask(`${deployment.url}/threads/search`, { body, headers })).toMatchObject({ status: 422 });
    }
  });

  it.each(COLUMNS)(
    'the column %s.%s is encrypted under the key of the user whose data it is',
    async (table, column) => {
      expect(await contextsOf(table, column, ada.threadId)).toEqual(['{"tenant":"ada"}']);
      expect(await contextsOf(table, column, bob.threadId)).toEqual(['{"tenant":"bob"}']);
    },
  );

  it('the runs of a cron are encrypted as the cron, whoever wakes the scheduler', async () => {
    await deployment.pool.query("UPDATE cron SET next_run_date = now() - interval '1 second' WHERE cron_id = $1", [
      bob.cronId,
    ]);
    // Any change of a cron wakes the scheduler: this one is of somebody else.
    await deployment.clientOf('ada').crons.create('echo', { schedule: '@yearly' });
    const fired = await waitFor(
      async () => {
        const text = "SELECT run_id FROM run WHERE metadata->>'cron_id' = $1 AND status = 'success'";
        return (await deployment.pool.query(text, [bob.cronId])).rows[0];
      },
      { what: 'the run of the cron' },
    );
    expect(fired).toBeDefined();
    for (const [table, column] of COLUMNS) {
      expect(await contextsOf(table, column, bob.threadId)).toEqual(['{"tenant":"bob"}']);
    }
  });

  it('items that a graph puts into the store are encrypted as its run', async () => {
    await deployment.clientOf('bob').runs.wait(null, 'whoami', { input: { note: 'of bob' } });
    const { rows } = await deployment.pool.query(
      `SELECT k.context FROM store_item i JOIN encryption_key k
       ON k.key_id = substring(decode(substring(i.value->>'note' FROM 15), 'base64') FROM 2 FOR 16)`,
    );
    expect(rows).toEqual([{ context: '{"tenant":"bob"}' }]);
  });

  it('rows from before stay readable, and are encrypted when they are written again', async () => {
    const { threads, crons } = deployment.clientOf('ada');
    const { thread_id } = await threads.create();
    const created = await crons.createForThread(thread_id, 'echo', { schedule: '@yearly', input: INPUT });
    const { cron_id } = created as unknown as { cron_id: string };
    await deployment.pool.query(
      `UPDATE cron SET payload = '{"assistant_id":"echo","input":{"n":7}}' WHERE cron_id = $1`,
      [cron_id],
    );
    expect(await crons.search({ threadId: thread_id })).toMatchObject([{ payload: { input: { n: 7 } } }]);
    expect(await contextsOf('cron', 'payload', thread_id)).toEqual([null]);
    const headers = userHeaders('ada');
    await ask(`${deployment.url}/crons/${cron_id}`, { method: 'PATCH', body: { metadata: { more: 1 } }, headers });
    expect(await crons.search({ threadId: thread_id })).toMatchObject([{ payload: { input: { n: 7 } } }]);
    expect(await contextsOf('cron', 'payload', thread_id)).toEqual(['{"tenant":"ada"}']);
  });

  it('a key that the project changed is stored anew, and everything stays readable', async () => {
    await deployment.order({ bob: 'rotate' });
    const another = await deployment.startAnother();
    expect(await deployment.clientOf('bob', another.url).threads.get(bob.threadId)).toMatchObject({
      metadata: METADATA,
    });
    const { rows } = await deployment.pool.query(
      'SELECT DISTINCT get_byte(encrypted, 0) AS v FROM encryption_key WHERE context = $1',
      ['{"tenant":"bob"}'],
    );
    expect(rows).toEqual([{ v: 2 }]);
    await deployment.order({});
  });

  it('a user whose key is refused, or hangs, reads and writes nothing, and nobody else notices', async () => {
    await deployment.order({ ada: 'refuse', eve: 'hang' });
    const another = await deployment.startAnother();
    const ofEve = ask(`${another.url}/threads`, { body: {}, headers: userHeaders('eve') });
    const requests = {
      read: { path: `/threads/${ada.threadId}/runs/${ada.runId}` },
      write: { path: '/threads', body: {} },
    };
    const answers = await Promise.all(
      Object.values(requests).map(({ path, ...rest }) =>
        ask(another.url + path, { ...rest, headers: userHeaders('ada') }),
      ),
    );
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, json: { detail: 'The project’s encryption is not available' } });
    }
    await waitFor(() => another.output().includes('the key service refuses ada'), { what: 'the reason in the log' });
    const { threads, runs } = deployment.clientOf('bob', another.url);
    expect(await threads.get(bob.threadId)).toMatchObject({ metadata: METADATA });
    expect(await runs.get(bob.threadId, bob.runId)).toMatchObject({ kwargs: { input: INPUT } });
    // Bob's process shows rows of others, as a list of the platform may, without what it cannot decrypt.
    await deployment.pool.query('UPDATE thread SET metadata = metadata || $2::jsonb WHERE thread_id = $1', [
      ada.threadId,
      { owner: 'bob' },
    ]);
    const headers = userHeaders('bob');
    const body = { ids: [ada.threadId], select: ['thread_id', 'values'] };
    const listed = await ask(`${another.url}/threads/search`, { body, headers });
    expect(listed.json).toMatchObject([{ values: { __error__: { error: 'SealingError' } } }]);
    const state = await ask(`${another.url}/threads/${ada.threadId}/state`, { headers });
    expect(state).toMatchObject({ status: 503, json: { detail: expect.stringContaining('"encryption.path"') } });
    expect(await ofEve).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(another.output()).toContain('encrypt.blob gave no answer: no answer in 5 s');
  });
});
