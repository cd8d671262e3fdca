import { randomUUID } from 'node:crypto';
import { AGENT_SERVER_OPERATIONS, PRINCIPAL_HEADER } from '@runyard/contracts';
import { encodeUser } from '@runyard/host-protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuardedDeployment, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import {
  AGENT,
  type Answer,
  type Asked,
  askOperation,
  ROWS,
  type Row,
  says,
  type Things,
  UNSCOPED,
} from './operation-rows.ts';

const ADA = userHeaders('ada');
const BOB = userHeaders('bob');
const STUDIO = { 'x-auth-scheme': 'langsmith' };

let deployment: GuardedDeployment;
let its: Things;
/** Callers whom the project lets in, and who own nothing of Ada's. */
let strangers: Record<string, Record<string, string>>;
/** Callers who only say who they are. */
let nobodies: Record<string, Record<string, string>>;

const ask = (operationId: string, asked: Asked, headers: Record<string, string>) =>
  askOperation(deployment.url, operationId, asked, headers, { readsStreams: ROWS[operationId]?.readsStreams ?? true });
async function made<Body>(operationId: string, asked: Asked, headers = ADA): Promise<Body> {
  const { status, body } = await ask(operationId, asked, headers);
  expect([operationId, status], JSON.stringify(body)).toEqual([operationId, 200]);
  return body as Body;
}

/** Makes one of everything, with metadata by which it could be found. */
async function makeThings(headers: Record<string, string>): Promise<Things> {
  const mark = randomUUID();
  const metadata = { mark };
  const messages = [{ role: 'user', content: mark }];
  const supersteps = [{ updates: [{ values: { messages }, as_node: '__input__' }] }];
  const assistant_id = 'echo';
  const thread = await made<{ thread_id: string }>(
    'createThread',
    { body: { graph_id: 'echo', metadata, supersteps } },
    headers,
  );
  const params = { thread_id: thread.thread_id };
  const run = await made<{ run_id: string }>('createRun', { params, body: { assistant_id, metadata } }, headers);
  await (await deployment.worker.take()).succeed({ said: mark });
  const shown = { threadId: mark, runId: mark, messages: [] };
  await made('runAgUi', { params: { assistant_id }, body: shown }, headers);
  await (await deployment.worker.take()).succeed({ said: mark });
  const state = await made<{ checkpoint_id: string }>('getThreadState', { params }, headers);
  const busy = await made<{ thread_id: string }>('createThread', { body: {} }, headers);
  const spare = await made<{ thread_id: string }>('createThread', { body: {} }, headers);
  const pending = await made<{ run_id: string }>(
    'createRun',
    { params: { thread_id: busy.thread_id }, body: { assistant_id, after_seconds: 600 } },
    headers,
  );
  const assistant = await made<{ assistant_id: string }>(
    'createAssistant',
    { body: { graph_id: 'echo', name: mark, metadata } },
    headers,
  );
  const cron = await made<{ cron_id: string }>(
    'createCron',
    { body: { assistant_id, schedule: '@yearly', metadata } },
    headers,
  );
  const { task } = await made<{ task: { id: string; contextId: string } }>(
    'sendA2aMessage',
    { params: AGENT, body: says(mark) },
    headers,
  );
  await (await deployment.worker.take()).ask({ messages }, [{ id: 'i1', value: mark }]);
  const config = await made<{ id: string }>(
    'createA2aPushConfig',
    { params: { ...AGENT, task_id: task.id }, body: { url: `http://127.0.0.1:9/${mark}` } },
    headers,
  );
  await ask('putItem', { body: { namespace: [mark], key: 'k', value: { said: mark } } }, headers);
  return {
    mark,
    threadId: thread.thread_id,
    runId: run.run_id,
    checkpointId: state.checkpoint_id,
    busyThreadId: busy.thread_id,
    pendingRunId: pending.run_id,
    spareThreadId: spare.thread_id,
    assistantId: assistant.assistant_id,
    cronId: cron.cron_id,
    taskId: task.id,
    contextId: task.contextId,
    pushConfigId: config.id,
  };
}

beforeAll(async () => {
  deployment = await shareGuardedDeployment();
  const token = await deployment.platformToken();
  strangers = {
    bob: BOB,
    'Studio, verified': { ...STUDIO, ...token },
    'a key of the platform': token,
  };
  nobodies = {
    'no user': {},
    'an unknown bearer': { authorization: 'Bearer mallory' },
    'Studio, by its word': STUDIO,
    'a key that nobody verified': { 'x-api-key': 'a guess' },
    'a forged token of the platform': { [PRINCIPAL_HEADER]: 'forged' },
    'a forged user': {
      'x-runyard-user': encodeUser({ identity: 'ada', display_name: '', is_authenticated: true, permissions: [] }),
    },
  };
  its = await makeThings(ADA);
});
afterAll(() => deployment?.close());

it('every operation has a row, or is known to belong to nobody', () => {
  const known = [...Object.keys(ROWS), ...UNSCOPED].sort();
  expect(known).toEqual(AGENT_SERVER_OPERATIONS.map(({ operationId }) => operationId).sort());
});

const EACH_ROW = Object.entries(ROWS);

/** Checks an answer about things that the caller may not see. */
function expectHidden(who: string, { status, body }: Answer, { hidden }: Row): void {
  expect([who, status], JSON.stringify(body)).toEqual([who, hidden.status]);
  if (typeof hidden.body === 'function') expect(body, who).toSatisfy(hidden.body as (body: unknown) => boolean);
  else if (hidden.body !== undefined) expect([who, body]).toMatchObject([who, hidden.body]);
  expect(JSON.stringify(body), who).not.toContain(its.mark);
}

it.each(EACH_ROW)('%s answers other users about things of Ada as about missing ones', async (operationId, row) => {
  for (const [who, headers] of Object.entries(strangers)) {
    expectHidden(who, await ask(operationId, row.ask(its), headers), row);
  }
});

it.each(EACH_ROW)('%s is refused to callers without a user, whatever they say of themselves', async (id, row) => {
  // Each is called by no user; the others, whom one verifier refuses, take turns.
  const [none, ...others] = Object.entries(nobodies);
  const index = EACH_ROW.findIndex(([operationId]) => operationId === id);
  for (const [who, headers] of [none!, others[index % others.length]!]) {
    const { status, body } = await ask(id, row.ask(its), headers);
    expect([who, status, body]).toMatchObject([who, 401, { detail: expect.any(String) }]);
  }
});

it.each(EACH_ROW)('%s is refused when the handler of any of its events says so', async (operationId, row) => {
  for (const event of row.events) {
    const { status, body } = await ask(operationId, row.ask(its), { ...ADA, 'x-act': 'deny', 'x-on': event });
    expect([event, status, body]).toMatchObject([event, 403, { detail: 'Forbidden' }]);
  }
});

/** The operations about a thread, however they name it. */
const ABOUT_THREADS = EACH_ROW.filter(
  ([operationId, { events }]) =>
    events.some((event) => /^threads:(read|update|delete|create_run)$/.test(event)) &&
    // Runs and crons without a thread, and a name that is the caller's own.
    !/^(create|stream|wait)Stateless|RunBatch$|^createCron$|^joinAgUi$/.test(operationId),
);

it.each(ABOUT_THREADS)('%s shows handlers the thread, in lower case, also where its path does not', async (id, row) => {
  const threads = [its.threadId, its.busyThreadId, its.spareThreadId, its.contextId];
  const byIds = { ...BOB, 'x-act': 'other-threads', 'x-may-not': threads.join() };
  const asked = row.ask(its);
  const inUpperCase = JSON.stringify(asked).replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, (uuid) => uuid.toUpperCase());
  for (const each of [asked, JSON.parse(inUpperCase) as Asked]) {
    const { status, body } = await ask(id, each, byIds);
    expect([status, body]).toMatchObject([403, { detail: 'Forbidden' }]);
  }
});

describe('beyond single requests', () => {
  it('lists, counts and searches without a condition show each user its own alone', async () => {
    const theirs = await makeThings(BOB);
    const listed = async (headers: Record<string, string>) =>
      JSON.stringify(
        await Promise.all(
          ['searchThreads', 'searchAssistants', 'searchCrons', 'searchItems', 'listNamespaces'].map(
            async (operationId) => (await ask(operationId, { body: { limit: 100 } }, headers)).body,
          ),
        ),
      );
    const [adas, bobs] = [await listed(ADA), await listed(BOB)];
    for (const id of [its.threadId, its.assistantId, its.cronId]) {
      expect([adas.includes(id), bobs.includes(id)]).toEqual([true, false]);
    }
    for (const id of [theirs.threadId, theirs.assistantId, theirs.cronId]) {
      expect([adas.includes(id), bobs.includes(id)]).toEqual([false, true]);
    }
    const said = (mark: string) => JSON.stringify({ said: mark });
    expect([its.mark, theirs.mark].map((mark) => [adas.includes(said(mark)), bobs.includes(said(mark))])).toEqual([
      [true, false],
      [false, true],
    ]);
    const cancelled = await ask('cancelRuns', { body: { status: 'all' } }, BOB);
    expect(cancelled.status).toBe(204);
    const run = await ask('getRun', { params: { thread_id: its.busyThreadId, run_id: its.pendingRunId } }, ADA);
    expect(run.body).toMatchObject({ status: 'pending' });
  });

  it('a stream that another user began cannot be joined, continued or left so that its run is cancelled', async () => {
    const body = { assistant_id: 'echo', input: {}, stream_resumable: true, on_disconnect: 'continue' };
    const { thread_id } = await made<{ thread_id: string }>('createThread', { body: {} });
    const stream = await fetch(`${deployment.url}/threads/${thread_id}/runs/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...ADA },
      body: JSON.stringify(body),
    });
    const run = await deployment.worker.take();
    const params = { thread_id, run_id: run.claimed.runId };
    const first = await run.emit('values', { said: its.mark });
    const answers = await Promise.all([
      ask('joinRunStream', { params, query: { cancel_on_disconnect: '1' } }, { ...BOB, 'last-event-id': '0-0' }),
      ask('joinRunStream', { params }, { ...BOB, 'x-runyard-handover': 'continued', 'last-event-id': first }),
      ask('joinThreadStream', { params }, { ...BOB, 'last-event-id': '-1' }),
      ask('joinRun', { params, query: { cancel_on_disconnect: '1' } }, BOB),
    ]);
    expect(JSON.stringify(answers.map(({ body: told }) => told))).not.toContain(its.mark);
    await run.succeed({ said: its.mark });
    expect(await stream.text()).toContain(its.mark);
    const { body: joined } = await ask('joinRun', { params }, ADA);
    expect(joined).toEqual({ said: its.mark });
  });

  it('two users of AG-UI who call a conversation the same have one each, and neither reaches that of the other', async () => {
    const params = { assistant_id: 'echo' };
    const names = { threadId: 'our chat', runId: 'the first' };
    const begin = async (headers: Record<string, string>) => {
      await made('runAgUi', { params, body: { ...names, messages: [] } }, headers);
      const run = await deployment.worker.take();
      await run.succeed({ said: its.mark });
      return run.claimed;
    };
    const [adas, bobs] = [await begin(ADA), await begin(BOB)];
    expect(adas.threadId).not.toBe(bobs.threadId);
    expect(adas.metadata).toMatchObject({ owner: 'ada' });
    const thread = { ...names, threadId: adas.threadId };
    const tried = await Promise.all([
      ask('runAgUi', { params, body: { ...thread, messages: [] } }, BOB),
      ask('runAgUi', { params, body: { ...thread, runId: 'another', messages: [], resume: [] } }, BOB),
      ask('joinAgUi', { params, query: thread }, BOB),
    ]);
    expect(tried.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(JSON.stringify(tried.map(({ body }) => body))).not.toContain(its.mark);
  });

  it('the run of a cron is for who made the cron, and tells nobody the fields of the user', async () => {
    await deployment.pool.query("UPDATE cron SET next_run_date = now() - interval '1 s' WHERE cron_id = $1", [
      its.cronId,
    ]);
    // The scheduler looks at once when a cron is made.
    await made('createCron', { body: { assistant_id: 'echo', schedule: '@yearly' } });
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs.config).toMatchObject({
      configurable: { user_id: 'ada', svc_auth_user: { identity: 'ada', secret: 'secret of ada' } },
    });
    const params = { run_id: run.claimed.runId };
    const [seen, hidden] = await Promise.all([
      ask('getStatelessRun', { params }, ADA),
      ask('getStatelessRun', { params }, BOB),
    ]);
    expect([seen.status, hidden.status]).toEqual([200, 404]);
    expect(JSON.stringify(seen.body)).not.toMatch(/secret of ada|svc_auth_user|langgraph_auth_user/);
    await run.succeed({});
  });

  it('a webhook tells nothing of the user, and reaches no route that would ask who calls', async () => {
    const body = { assistant_id: 'echo', webhook: `/threads/${its.threadId}/runs` };
    expect(await ask('createStatelessRun', { body }, BOB)).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('routes of the project ask who calls') },
    });
  });
});

it('the owner can do each of these, and found everything untouched', async () => {
  for (const [operationId, row] of EACH_ROW) {
    if (!row.isAskedByOwner) continue;
    const { status, body } = await askOperation(deployment.url, operationId, row.ask(its), ADA, {
      readsStreams: false,
    });
    expect([operationId, status], JSON.stringify(body)).toEqual([operationId, expect.toSatisfy((code) => code < 300)]);
    if (row.hidden.body !== undefined && typeof row.hidden.body !== 'function') {
      expect([operationId, body]).not.toEqual([operationId, row.hidden.body]);
    }
  }
});
