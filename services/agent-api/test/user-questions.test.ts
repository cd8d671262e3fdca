/** Handlers of the project are shown the same, and their changes count, whichever operation asks. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemAssistantId } from '../src/assistants/assistant-ids.ts';
import { type GuardedDeployment, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { AGENT, type Asked, askOperation, says } from './operation-rows.ts';

const ADA = userHeaders('ada');
const BOB = userHeaders('bob');
const ECHO = systemAssistantId('echo');
const acting = (act: string, mayNot = '') => ({ ...BOB, 'x-act': act, 'x-may-not': mayNot });

let deployment: GuardedDeployment;
beforeAll(async () => {
  deployment = await shareGuardedDeployment();
});
afterAll(() => deployment?.close());

const ask = (operationId: string, asked: Asked, headers: Record<string, string> = BOB) =>
  askOperation(deployment.url, operationId, asked, headers);
async function made<Body>(operationId: string, asked: Asked, headers: Record<string, string> = BOB): Promise<Body> {
  const { status, body } = await ask(operationId, asked, headers);
  expect([operationId, status], JSON.stringify(body)).toEqual([operationId, 200]);
  return body as Body;
}
const newThread = async (headers = BOB) =>
  (await made<{ thread_id: string }>('createThread', { body: {} }, headers)).thread_id;

describe('handlers that decide by the id of an assistant', () => {
  const others = acting('other-assistants', ECHO);
  /** Checks that each event tells them about the assistant: one handler alone may decide. */
  async function expectRefused(operationId: string, asked: Asked, events = ['assistants:read']) {
    for (const event of events) {
      const answer = await ask(operationId, asked, { ...others, 'x-on': event });
      expect([operationId, event, answer]).toMatchObject([operationId, event, { status: 403 }]);
    }
  }
  const RUN_EVENTS = ['threads:create_run', 'assistants:read'];

  it('are shown it where the client names a graph, or spells the id otherwise', async () => {
    for (const assistant_id of ['echo', ECHO, ECHO.toUpperCase()]) {
      await expectRefused('createStatelessRun', { body: { assistant_id } }, RUN_EVENTS);
      await expectRefused('createRunBatch', { body: [{ assistant_id }] }, RUN_EVENTS);
      await expectRefused('createCron', { body: { assistant_id, schedule: '@yearly' } }, [
        'crons:create',
        ...RUN_EVENTS,
      ]);
      await expectRefused('getAssistant', { params: { assistant_id } });
      await expectRefused('sendA2aMessage', { params: { assistant_id }, body: says('hi') }, RUN_EVENTS);
      const body = { threadId: randomUUID(), runId: 'r', messages: [] };
      await expectRefused('runAgUi', { params: { assistant_id }, body }, RUN_EVENTS);
      const params = { thread_id: await newThread() };
      const start = { id: 1, method: 'run.start', params: { assistant_id } };
      await expectRefused('sendCommand', { params, body: start }, RUN_EVENTS);
    }
  });

  it('are shown it where the cron, or the thread, alone knows it', async () => {
    const cron = await made<{ cron_id: string }>('createCron', {
      body: { assistant_id: 'echo', schedule: '@yearly' },
    });
    const changed = { params: { cron_id: cron.cron_id }, body: { input: { messages: [] } } };
    await expectRefused('updateCron', changed, RUN_EVENTS);
    expect(await ask('updateCron', changed)).toMatchObject({ status: 200 });
    const params = { thread_id: await newThread() };
    await made('createRun', { params, body: { assistant_id: 'echo' } });
    await (await deployment.worker.take()).succeed({});
    for (const [method, given] of [
      ['input.respond', { interrupt_id: 'i', response: 1 }],
      ['state.fork', { checkpoint_id: 'c' }],
    ] as const) {
      await expectRefused('sendCommand', { params, body: { id: 1, method, params: given } }, RUN_EVENTS);
    }
  });
});

it('a change of the runs of a cron is asked about with the thread that they run on', async () => {
  const thread_id = await newThread(ADA);
  const cron = await made<{ cron_id: string }>(
    'createThreadCron',
    { params: { thread_id }, body: { assistant_id: 'echo', schedule: '@yearly' } },
    ADA,
  );
  const change = (body: object) =>
    ask('updateCron', { params: { cron_id: cron.cron_id }, body }, acting('other-threads', thread_id));
  expect(await change({ input: { messages: [] } })).toMatchObject({ status: 403 });
  expect(await change({ enabled: false })).toMatchObject({ status: 200 });
});

it('whatever creates something shows metadata to write to, also where the client sends none', async () => {
  const on = (event: string) => ({ ...acting('own-metadata'), 'x-on': event });
  const body = { assistant_id: 'echo' };
  const params = { thread_id: await newThread(on('threads:create')) };
  const cron = { ...body, schedule: '@yearly' };
  const creations: [operationId: string, event: string, asked: Asked][] = [
    ['copyThread', 'threads:create', { params }],
    ['createAssistant', 'assistants:create', { body: { graph_id: 'echo' } }],
    ['createRun', 'threads:create_run', { params, body }],
    ['createStatelessRun', 'threads:create_run', { body }],
    ['createCron', 'crons:create', { body: cron }],
    ['createCron', 'threads:create_run', { body: cron }],
  ];
  for (const [operationId, event, asked] of creations) {
    expect(await made(operationId, asked, on(event))).toMatchObject({ metadata: { owner: 'bob' } });
  }
  for (let left = 2; left > 0; left -= 1) await (await deployment.worker.take()).succeed({});
});

it('an assistant that cannot exist is refused by the handler first, and its answer names no graphs', async () => {
  const body = { assistant_id: 'secret' };
  const denied = await ask('createStatelessRun', { body }, { ...BOB, 'x-act': 'deny' });
  expect([denied.status, denied.body]).toEqual([403, { detail: 'Forbidden' }]);
  expect((await ask('createStatelessRun', { body })).status).toBe(422);
});

it('a command does not create the thread that its client, or the handler, wants to be there', async () => {
  const params = { thread_id: randomUUID() };
  const run = { assistant_id: 'echo', input: {}, if_not_exists: 'reject' };
  const { body } = await ask('sendCommand', { params, body: { id: 1, method: 'run.start', params: run } });
  expect(body).toMatchObject({ type: 'error' });
  expect((await ask('getThread', { params })).status).toBe(404);
});

describe('a run has what handlers give every run of a user', () => {
  const own = acting('own-context');
  const hasContext = async () => {
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs).toMatchObject({ context: { tenant: 'bob' } });
    return run;
  };

  it.each<[string, Asked]>([
    ['createStatelessRun', { body: { assistant_id: 'echo' } }],
    ['sendA2aMessage', { params: AGENT, body: says('hi') }],
    ['runAgUi', { params: AGENT, body: { threadId: randomUUID(), runId: 'r', messages: [] } }],
  ])('by %s', async (operationId, asked) => {
    const answer = ask(operationId, asked, own);
    await (await hasContext()).succeed({ messages: [] });
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('by a command, and by a tool of MCP', async () => {
    const params = { thread_id: randomUUID() };
    const start = { id: 1, method: 'run.start', params: { assistant_id: 'echo', input: {} } };
    expect((await ask('sendCommand', { params, body: start }, own)).body).toMatchObject({ type: 'success' });
    await (await hasContext()).succeed({});
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { messages: [] } } };
    const called = ask('callMcp', { body: call }, { ...own, accept: 'application/json, text/event-stream' });
    await (await hasContext()).succeed({ messages: [] });
    expect(await called).toMatchObject({ status: 200 });
  });
});

it("the project's own code asks its server for everybody, or for the user whose credentials it passes on", async () => {
  const mine = { mark: randomUUID() };
  await made('createThread', { body: { metadata: mine } }, ADA);
  const found = async (query: string) => {
    const response = await fetch(`${deployment.url}/custom/threads?${query}`, { headers: BOB });
    return (await response.text()).includes(mine.mark);
  };
  expect([await found('for=code'), await found('for=user')]).toEqual([true, false]);
});

it("a route that asks its own server by its address sees what the request's user does", async () => {
  const mine = { mark: randomUUID() };
  await made('createThread', { body: { metadata: mine } }, ADA);
  const found = async (headers: Record<string, string>) => {
    const response = await fetch(`${deployment.url}/custom/threads-by-address`, { headers });
    return [response.status, (await response.text()).includes(mine.mark)];
  };
  expect([await found(ADA), await found(BOB)]).toEqual([
    [200, true],
    [200, false],
  ]);
});
