import {
  createRunBatch,
  createStatelessRun,
  createThread,
  HANDOFF_HEADER,
  patchThread,
  pruneThreads,
} from '@runyard/contracts';
import { ForbiddenError, type HandlerRequest } from '@runyard/service-kit';
import { describe, expect, it, vi } from 'vitest';
import { UNRESTRICTED } from '../access/scope.ts';
import { AuthValueError } from './ask-about-request.ts';
import type { AuthEvent } from './auth-events.ts';
import type { Authorizer } from './authorizer.ts';
import * as questions from './operation-questions.ts';
import type { Question, RequestParts } from './question.ts';
import { RouteGuard } from './route-guard.ts';
import type { Subjects } from './subjects.ts';

const ID = '01a1c7de-8c1b-7c3e-9d52-0a4c8d7e1f20';
const SCOPE = [{ owner: 'ada' }];

type Answer = (value: Record<string, unknown>, event: AuthEvent) => Record<string, unknown> | undefined;

/** A guard whose handlers change values in place, as those of projects do. */
function guardWith(answer: Answer) {
  const authorize = vi.fn(async (_: unknown, event: AuthEvent, value: Record<string, unknown>) => {
    const changed = structuredClone(value);
    const left = answer(changed, event) ?? changed;
    return { scope: SCOPE, value: JSON.stringify(left) === JSON.stringify(value) ? value : left };
  });
  const find = vi.fn(async () => ({ thread_id: ID, assistant_id: 'of-the-row' }));
  const subjects: Subjects = { find };
  return { authorize, find, guard: new RouteGuard({ authorizer: { authorize } as unknown as Authorizer, subjects }) };
}

const requestOf = (parts: Partial<RequestParts> | { body: unknown[] }) =>
  ({ params: {}, query: {}, headers: {}, caller: {}, ...parts }) as unknown as HandlerRequest;

describe('what a handler leaves alone stays as the client sent it', () => {
  const cron = { schedule: '@daily', metadata: { a: 1 }, assistant_id: 'echo', input: { n: 1 }, config: {} };
  const run = { assistant_id: 'echo', metadata: { a: 1 }, if_not_exists: 'reject', input: { n: 1 }, webhook: 'w' };
  const cases: [string, Question, Partial<RequestParts>][] = [
    ['a path', questions.READ_THREAD, { params: { thread_id: ID }, body: { metadata: { a: 1 } } }],
    ['path and body', questions.UPDATE_THREAD, { params: { thread_id: ID }, body: { metadata: { a: 1 } } }],
    ['query and body', questions.UPDATE_ASSISTANT, { query: { version: 1 }, body: { version: 1 } }],
    ['query alone', questions.UPDATE_THREAD, { params: { run_id: ID }, query: { wait: '1' }, body: undefined }],
    ['a run', questions.CREATE_RUN, { params: { thread_id: ID }, body: run }],
    ['a stateless run', questions.CREATE_RUN, { body: run }],
    ['an assistant', questions.READ_ASSISTANT_OF_RUN, { body: run }],
    ['a cron', questions.CREATE_CRON, { body: cron }],
    ['the runs of a cron', questions.CREATE_RUNS_OF_CRON, { body: cron }],
    ['a change of a cron', questions.UPDATE_CRON, { params: { cron_id: ID }, body: { schedule: '@daily', input: 1 } }],
    ['an item', questions.GET_ITEM, { query: { key: 'k', namespace: ['a', 'b'] } }],
    ['items', questions.SEARCH_ITEMS, { body: { namespace_prefix: ['a'], limit: 3 } }],
    ['namespaces', questions.LIST_NAMESPACES, { body: { prefix: ['a', '*'], suffix: ['b'] } }],
  ];
  it.each(cases)('%s', (_, question, given) => {
    const parts = { params: {}, query: {}, body: {}, ...given };
    expect(question.apply(parts, question.show(parts))).toEqual(parts);
  });
});

describe('a handler gets a value as the SDK types it', () => {
  const run = {
    assistant_id: 'echo',
    metadata: { a: 1 },
    multitask_strategy: 'enqueue',
    input: 1,
    config: { tags: [] },
  };
  const aboutRun = { assistant_id: 'echo', metadata: { a: 1 }, multitask_strategy: 'enqueue' };
  const cron = { schedule: '@daily', end_time: null, metadata: { a: 1 }, assistant_id: 'echo', input: 1 };
  const cases: [AuthEvent, Question, Partial<RequestParts>, object][] = [
    ['threads:read', questions.READ_THREAD, { params: { thread_id: ID }, body: { limit: 3 } }, { thread_id: ID }],
    [
      'threads:update',
      questions.UPDATE_THREAD,
      { params: { thread_id: ID, run_id: ID }, query: { action: 'rollback' } },
      { thread_id: ID, run_id: ID, action: 'rollback' },
    ],
    [
      'threads:create_run',
      questions.CREATE_RUN,
      { body: run },
      { thread_id: null, ...aboutRun, kwargs: { input: 1, config: { tags: [] } } },
    ],
    ['assistants:read', questions.READ_ASSISTANT_OF_RUN, { body: run }, { assistant_id: 'echo' }],
    [
      'crons:create',
      questions.CREATE_CRON,
      { params: { thread_id: ID }, body: cron },
      {
        ...{ thread_id: ID, schedule: '@daily', end_time: null, metadata: { a: 1 } },
        payload: { assistant_id: 'echo', input: 1 },
      },
    ],
    [
      'threads:create_run',
      questions.CREATE_RUNS_OF_CRON,
      { body: cron },
      { thread_id: null, assistant_id: 'echo', metadata: { a: 1 }, kwargs: { input: 1 } },
    ],
    [
      'crons:update',
      questions.UPDATE_CRON,
      { params: { cron_id: ID }, body: { enabled: false } },
      { cron_id: ID, enabled: false, payload: {} },
    ],
    ['store:get', questions.GET_ITEM, { query: { key: 'k', namespace: 'a.b' } }, { key: 'k', namespace: ['a', 'b'] }],
    ['store:delete', questions.DELETE_ITEM, { body: { key: 'k' } }, { key: 'k', namespace: [] }],
    [
      'store:search',
      questions.SEARCH_ITEMS,
      { body: { namespace_prefix: null, query: 'tea' } },
      { namespace: [], query: 'tea' },
    ],
    ['store:list_namespaces', questions.LIST_NAMESPACES, { body: { prefix: ['a'] } }, { namespace: ['a'] }],
  ];
  it.each(cases)('%s', (event, question, given, value) => {
    expect([question.event, question.show({ params: {}, query: {}, body: {}, ...given })]).toEqual([event, value]);
  });
});

it('a change of a cron asks about its runs when it says what they do', () => {
  const asked = (body: Record<string, unknown>) => questions.changesRuns({ body });
  expect([{ enabled: false }, { schedule: '@daily', metadata: {} }].map(asked)).toEqual([false, false]);
  expect([{ input: 1 }, { enabled: true, webhook: 'w' }].map(asked)).toEqual([true, true]);
});

it('a run that may create its thread is shown so under one name', () => {
  const parts = {
    params: {},
    query: {},
    body: { assistant_id: 'echo', if_not_exists: 'reject', on_not_exist: 'create' },
  };
  const value = questions.CREATE_RUN.show(parts);
  expect(value).toMatchObject({ if_not_exists: 'create', kwargs: {} });
  const { body } = questions.CREATE_RUN.apply(parts, { ...value, if_not_exists: 'reject' });
  expect(body).toEqual({ assistant_id: 'echo', if_not_exists: 'reject', metadata: {} });
});

describe('a guarded operation', () => {
  it('of a project without users gets the request itself, and asks nothing', async () => {
    const handler = vi.fn(async () => undefined);
    const request = requestOf({});
    await new RouteGuard().bind(createThread, [questions.CREATE_THREAD], handler).handler(request);
    expect(handler).toHaveBeenCalledWith(request, [UNRESTRICTED], request);
  });

  it('gets the request as the handlers leave it, with the scope of each', async () => {
    const { guard } = guardWith((value, event) => {
      value.metadata = { ...(value.metadata as object), [event]: true };
    });
    const handler = vi.fn(async () => undefined);
    const asked = [questions.CREATE_THREAD, questions.READ_EXISTING_THREAD] as const;
    const original = requestOf({ body: { thread_id: ID, if_exists: 'do_nothing' } });
    await guard.bind(createThread, asked, handler).handler(original);
    const [request, scopes, asSent] = handler.mock.calls[0] as unknown as [HandlerRequest, unknown, unknown];
    const body = { thread_id: ID, if_exists: 'do_nothing', metadata: { 'threads:create': true } };
    expect([request.body, scopes, asSent]).toEqual([body, [SCOPE, SCOPE], original]);
    expect(original.body).not.toHaveProperty('metadata');
  });

  it('asks at once, and again about what an earlier handler has changed', async () => {
    const { guard, authorize } = guardWith((value, event) => {
      if (event === 'threads:create_run') Object.assign(value, { assistant_id: 'other', metadata: { owner: 'ada' } });
      else if (value.assistant_id !== 'other') throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    });
    const handler = vi.fn(async () => undefined);
    const asked = [questions.CREATE_RUN, questions.READ_ASSISTANT_OF_RUN] as const;
    const bound = guard.bind(createStatelessRun, asked, handler);
    await bound.handler(requestOf({ body: { assistant_id: 'echo' } }));
    const [request, scopes] = handler.mock.calls[0] as unknown as [HandlerRequest, unknown];
    expect(request.body).toMatchObject({ assistant_id: 'other', metadata: { owner: 'ada' } });
    expect(scopes).toEqual([SCOPE, SCOPE]);
    expect(authorize).toHaveBeenCalledTimes(3);
    authorize.mockClear();
    await bound.handler(requestOf({ body: { assistant_id: 'other' } }));
    expect(authorize.mock.calls.map(([, event]) => event)).toEqual(['threads:create_run', 'assistants:read']);
  });

  it('looks up once what several questions are about', async () => {
    const { guard, authorize, find } = guardWith((value, event) => {
      if (event === 'threads:create_run') value.metadata = { owner: 'ada' };
    });
    const asked = [questions.CHANGE_RUNS_OF_CRON, questions.READ_ASSISTANT_OF_CRON] as const;
    await guard.bind(patchThread, asked, vi.fn()).handler(requestOf({ params: { thread_id: ID }, body: { input: 1 } }));
    expect(authorize.mock.calls.map(([, event]) => event)).toEqual(['threads:create_run', 'assistants:read']);
    expect(find).toHaveBeenCalledOnce();
  });

  it('refuses with the first refusal, whatever the others answer', async () => {
    const { guard } = guardWith((_, event) => {
      throw new ForbiddenError(event, { code: 'denied_by_project' });
    });
    const asked = [questions.CREATE_RUN, questions.READ_ASSISTANT_OF_RUN] as const;
    const bound = guard.bind(createStatelessRun, asked, vi.fn());
    await expect(bound.handler(requestOf({ body: { assistant_id: 'echo' } }))).rejects.toThrow('threads:create_run');
  });

  it('gets an empty scope for what it did not have to ask', async () => {
    const { guard, authorize } = guardWith(() => undefined);
    const handler = vi.fn(async () => undefined);
    const asked = [questions.CREATE_THREAD, questions.READ_EXISTING_THREAD] as const;
    const request = requestOf({ body: { thread_id: ID } });
    await guard.bind(createThread, asked, handler).handler(request);
    expect(handler).toHaveBeenCalledWith(request, [SCOPE, []], request);
    expect(authorize).toHaveBeenCalledOnce();
  });

  it.each([
    ['a field of another type', (value: Record<string, unknown>) => ({ ...value, metadata: 'ada' })],
    ['an id that is none', (value: Record<string, unknown>) => ({ ...value, thread_id: '../x' })],
  ])('does nothing when a handler leaves %s', async (_, change) => {
    const { guard } = guardWith(change);
    const handler = vi.fn(async () => undefined);
    const { handler: answer } = guard.bind(patchThread, [questions.UPDATE_THREAD], handler);
    await expect(answer(requestOf({ params: { thread_id: ID }, body: {} }))).rejects.toThrow(AuthValueError);
    const emptied = guardWith(() => ({})).guard.bind(pruneThreads, [questions.PRUNE_THREADS], handler);
    await expect(emptied.handler(requestOf({ body: { thread_ids: [ID] } }))).rejects.toThrow(AuthValueError);
    expect(handler).not.toHaveBeenCalled();
  });

  it('with a list asks about each item', async () => {
    const { guard } = guardWith((value) => {
      value.metadata = { owner: value.assistant_id };
    });
    const handler = vi.fn(async () => undefined);
    const body = [{ assistant_id: 'a' }, { assistant_id: 'b' }];
    await guard.bindList(createRunBatch, [questions.CREATE_RUN], handler).handler(requestOf({ body }));
    const [request, scopes] = handler.mock.calls[0] as unknown as [HandlerRequest, unknown];
    expect(request.body).toMatchObject([{ metadata: { owner: 'a' } }, { metadata: { owner: 'b' } }]);
    expect(scopes).toEqual([[SCOPE], [SCOPE]]);
  });

  it('goes on without a right that only the continuation of an answer asks for', async () => {
    const { guard } = guardWith((_, event) => {
      if (event === 'threads:update') throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
    });
    const handler = vi.fn(async () => undefined);
    const bound = guard.bind(patchThread, [questions.CANCEL_ON_LEAVING], handler);
    const leaving = { params: { thread_id: ID }, query: { cancel_on_disconnect: '1' }, body: {} };
    await expect(bound.handler(requestOf(leaving))).rejects.toThrow(ForbiddenError);
    const continued = { ...requestOf(leaving), headers: { [HANDOFF_HEADER]: 'continued' } };
    await bound.handler(continued as unknown as HandlerRequest);
    expect(handler).toHaveBeenCalledWith(continued, [[]], continued);
  });
});
