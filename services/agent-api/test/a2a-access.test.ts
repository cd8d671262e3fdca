import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { A2aAccess, Call, CallQuestion } from '../src/a2a/methods/access.ts';
import type { Outcome } from '../src/a2a/methods/outcome.ts';
import { TaskMethods, type TaskMethodsOptions } from '../src/a2a/methods/task-methods.ts';
import type { Scope } from '../src/access/scope.ts';
import type { Json } from './a2a-client.ts';
import { NOBODY, openServices, type TestServices } from './services.ts';

const ADA = [{ owner: 'ada' }];
const BOB = [{ owner: 'bob' }];

let services: TestServices;
beforeAll(async () => {
  services = await openServices();
});
afterAll(() => services?.close());

const asked: CallQuestion[] = [];
/** The threads of answers whose callers are asked about again. */
const watched: string[] = [];
beforeEach(() => {
  asked.splice(0);
  watched.splice(0);
});

/** Returns the methods as somebody calls them whose rows are these. */
function methodsFor(scope: Scope, identity = 'ada'): TaskMethods {
  const { assistants, tasks, taskReader: reader, messages: sender, runs, engine } = services;
  const access: A2aAccess = {
    ask: async (_call, question) => {
      asked.push(question);
      return { scope, value: { ...question.value, metadata: { marked: true } } };
    },
    creatorOf: () => ({ creator: NOBODY, userId: '', requestId: '', user: userOf(identity) }),
  };
  const events = {} as TaskMethodsOptions['events'];
  const rights = { watchAnswer: (_: unknown, threadId: string) => void watched.push(threadId) };
  return new TaskMethods({ access, assistants, tasks, reader, sender, runs, engine, events, rights });
}
const userOf = (identity: string) => ({
  identity,
  display_name: identity,
  is_authenticated: true,
  permissions: [],
});
const call = {
  assistant: 'echo',
  version: '1.0',
  request: { headers: {}, signal: new AbortController().signal, res: new EventEmitter().setMaxListeners(0) },
} as unknown as Call;
const says = (more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more },
  configuration: { returnImmediately: true },
});
async function resultOf(outcome: Promise<{ kind: string }>): Promise<Json> {
  return ((await outcome) as Json).value;
}

it('a task belongs to whoever sent its first message, and is missing for everybody else', async () => {
  const { id, contextId } = (await resultOf(methodsFor(ADA).send(call, says()))).task;
  const { metadata } = await services.threads.get(ADA, contextId);
  expect(metadata).toMatchObject({ owner: 'ada', marked: true });
  expect(await resultOf(methodsFor(ADA).get(call, { id }))).toMatchObject({ id });
  const stranger = methodsFor(BOB);
  const missing = { reason: 'TASK_NOT_FOUND' };
  await expect(stranger.get(call, { id })).rejects.toMatchObject(missing);
  await expect(stranger.subscribe(call, { id })).rejects.toMatchObject(missing);
  await expect(stranger.cancel(call, { id })).rejects.toMatchObject(missing);
  await expect(stranger.task(call, { taskId: id }, 'update')).rejects.toMatchObject(missing);
  await expect(stranger.send(call, says({ taskId: id }))).rejects.toMatchObject(missing);
  await expect(stranger.send(call, says({ contextId }))).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  const page = { tasks: [], totalSize: 0, nextPageToken: '' };
  expect(await resultOf(stranger.list(call, { contextId }))).toMatchObject(page);
});

it('a message that somebody else sends again is none of theirs: they learn nothing of its task', async () => {
  const message = says({ contextId: randomUUID() });
  const { id } = (await resultOf(methodsFor(ADA).send(call, message))).task;
  expect((await resultOf(methodsFor(ADA).send(call, message))).task.id).toBe(id);
  const refusal = { reason: 'INVALID_PARAMS', message: expect.stringContaining('no context of yours') };
  await expect(methodsFor(BOB, 'bob').send(call, message)).rejects.toMatchObject(refusal);
});

it("the project's handlers are asked what the operations of the HTTP API with the same effect ask", async () => {
  const methods = methodsFor(ADA);
  const { id, contextId } = (await resultOf(methods.send(call, says()))).task;
  await methods.get(call, { id });
  await methods.cancel(call, { id });
  await methods.list(call, {});
  const about = { thread_id: contextId };
  expect(asked.filter(({ event }) => event !== 'assistants:read')).toMatchObject([
    { event: 'threads:create_run', value: { assistant_id: services.echo } },
    { event: 'threads:read', value: about },
    { event: 'threads:update', value: about },
    { event: 'threads:search' },
  ]);
  expect(asked.filter(({ event }) => event === 'assistants:read')).toHaveLength(4);
});

it('a user who follows a task that waits is asked about again, also where another process goes on with that', async () => {
  const methods = methodsFor(ADA);
  const { id, contextId } = (await resultOf(methods.send(call, says()))).task;
  await methods.subscribe(call, { id });
  // A run ends by itself.
  expect(watched).toEqual([]);
  await services.askInRuns({ id: 'i', value: 'Sure?' });
  const outcome = await methods.subscribe(call, { id });
  expect(watched).toEqual([contextId]);
  const { position } = (outcome as Extract<Outcome, { kind: 'events' }>).remainder();
  await methods.goOn(call, id, { position: position! });
  expect(watched).toEqual([contextId, contextId]);
});
