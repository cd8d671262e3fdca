import * as contracts from '@runyard/contracts';
import type { IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
import type { CancelSelection, RunRecord } from '@runyard/run-engine';
import {
  type HandlerRequest,
  noContent,
  ok,
  type Reply,
  requirePermission,
  UnprocessableError,
} from '@runyard/service-kit';
import {
  CANCEL_OF_RUN_ON_LEAVING,
  CANCEL_ON_LEAVING,
  CREATE_RUN,
  DELETE_THREAD,
  READ_ASSISTANT_OF_RUN,
  READ_THREAD,
  READ_THREAD_OF_RUN,
  UPDATE_THREAD,
} from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard, ScopesOf } from '../auth/route-guard.ts';
import { closedAnswer } from '../http/closed-answer.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import { isSet } from '../http/query-flag.ts';
import type { RunOrigin } from './accepted-run.ts';
import type { FollowedRun } from './followed-run.ts';
import { requestOrigin } from './request-origin.ts';
import type { RunAnswers } from './run-answers.ts';
import type { RunRequest } from './run-arguments.ts';
import { type RunLocation, runHeaders } from './run-locations.ts';
import type { RunService } from './run-service.ts';
import { toWireRun } from './run-wire.ts';
import { requireStrategyPermission } from './strategy-permission.ts';

type RunHandlerRequest = HandlerRequest<unknown, unknown, RunRequest>;
type CreatingOperation = Parameters<IdempotencyKeys['once']>[0];

const CREATED_RUN = [CREATE_RUN, READ_ASSISTANT_OF_RUN] as const;
const JOINED_RUN = [READ_THREAD, CANCEL_ON_LEAVING] as const;
const JOINED_STATELESS_RUN = [READ_THREAD_OF_RUN, CANCEL_OF_RUN_ON_LEAVING] as const;
/** The operations whose answers are the run's events of its stream modes. */
const STREAMS: CreatingOperation[] = [contracts.streamRun, contracts.streamStatelessRun];
type CreationScopes = ScopesOf<typeof CREATED_RUN>;

/** Serves the run operations. The service creates runs; `answers` sends them to clients. */
export function runRoutes(parts: {
  runs: RunService;
  answers: RunAnswers;
  keys: IdempotencyKeys;
  guard: RouteGuard;
  /** Picks the headers that reach `configurable`. */
  configurableHeaders: PickHeaders;
}): GuardedOperation[] {
  const { runs, answers, keys, guard, configurableHeaders } = parts;
  return [
    guard.bindCreation(keys, contracts.createRun, CREATED_RUN, answerRun, (req, scopes, keyed) =>
      create(req, scopes, keyed, req.params.thread_id),
    ),
    guard.bindCreation(keys, contracts.createStatelessRun, CREATED_RUN, answerStatelessRun, create),
    guard.bindList(contracts.createRunBatch, CREATED_RUN, (req, scopes, original) =>
      keys.once<Reply, contracts.Run[]>(contracts.createRunBatch, original, {
        create: async (request) => {
          const wire = (records: RunRecord[]) => records.map(toWireRun);
          const requests = req.body.map((body, index) => ({ body, origin: originOf(req, scopes[index]!) }));
          const created = await runs.createBatch(requests, request && { request, answerOf: wire });
          return ok(wire(created.map(({ record }) => record)));
        },
        repeat: ok,
      }),
    ),
    guard.bind(contracts.streamRun, CREATED_RUN, async (req, scopes, original) => {
      const run = await follow(contracts.streamRun, { req, scopes, original, threadId: req.params.thread_id });
      await answers.stream(run, req.body, creatorClientOf(req, scopes));
    }),
    guard.bind(contracts.streamStatelessRun, CREATED_RUN, async (req, scopes, original) => {
      const run = await follow(contracts.streamStatelessRun, { req, scopes, original });
      await answers.stream(run, req.body, creatorClientOf(req, scopes));
    }),
    guard.bind(contracts.waitRun, CREATED_RUN, async (req, scopes, original) => {
      const run = await follow(contracts.waitRun, { req, scopes, original, threadId: req.params.thread_id });
      await answers.wait(run, req.body, req.query, creatorClientOf(req, scopes));
    }),
    guard.bind(contracts.waitStatelessRun, CREATED_RUN, async (req, scopes, original) => {
      const run = await follow(contracts.waitStatelessRun, { req, scopes, original });
      await answers.wait(run, req.body, req.query, creatorClientOf(req, scopes));
    }),

    guard.bind(contracts.listRuns, [READ_THREAD], async ({ params, query, res }, [scope]) =>
      ok(await runs.list(scope, params.thread_id, query, closedAnswer(res))),
    ),
    guard.bind(contracts.getRun, [READ_THREAD], async ({ params }, [scope]) =>
      ok(toWireRun(await runs.find(scope, params.thread_id, params.run_id))),
    ),
    guard.bind(contracts.getStatelessRun, [READ_THREAD_OF_RUN], async ({ params }, [scope]) =>
      ok(toWireRun(await runs.findById(scope, params.run_id))),
    ),
    guard.bind(contracts.deleteRun, [DELETE_THREAD], async ({ params }, [scope]) => {
      await runs.delete(scope, params.thread_id, params.run_id);
      return noContent();
    }),

    guard.bind(contracts.joinRun, JOINED_RUN, async (req, scopes) => {
      requireCancelPermission(req);
      await answers.join(req.params, req.query, clientOf(req, scopes));
    }),
    guard.bind(contracts.joinRunStream, JOINED_RUN, joinStream),
    guard.bind(contracts.joinRunStreamAlias, JOINED_RUN, joinStream),
    guard.bind(contracts.joinStatelessRunStream, JOINED_STATELESS_RUN, joinStream),

    guard.bind(contracts.cancelRun, [UPDATE_THREAD], async (req, [scope]) => {
      const { thread_id: threadId, run_id: runId } = req.params;
      const action = req.query.action ?? 'interrupt';
      if (action === 'rollback') requirePermission(req.caller, 'runs:delete');
      const reason = `${action} requested via POST /threads/{thread_id}/runs/{run_id}/cancel`;
      await runs.cancel(scope, { threadId, runIds: [runId] }, action, reason);
      if (!isSet(req.query.wait)) return { status: 202 };
      await answers.answerCancelled({ threadId, runId }, clientOf(req, [scope, scope]));
    }),
    guard.bind(contracts.cancelRuns, [UPDATE_THREAD], async ({ body, query, caller }, [scope]) => {
      const action = query.action ?? 'interrupt';
      if (action === 'rollback') requirePermission(caller, 'runs:delete');
      await runs.cancel(scope, selectionOf(body), action, `${action} requested via POST /runs/cancel`);
      return noContent();
    }),
  ];

  function originOf(
    req: Pick<HandlerRequest, 'caller' | 'res' | 'headers'>,
    [scope, assistantScope]: CreationScopes,
    threadId?: string,
  ): RunOrigin {
    return {
      ...(threadId !== undefined && { threadId }),
      scope,
      assistantScope,
      ...requestOrigin(req, configurableHeaders),
    };
  }

  async function create(
    req: RunHandlerRequest,
    scopes: CreationScopes,
    request: KeyedRequest | undefined,
    threadId?: string,
  ): Promise<contracts.Run> {
    if (threadId !== undefined) requireStrategyPermission(req.caller, req.body);
    const keyed = request && { request, answerOf: toWireRun };
    return toWireRun((await runs.create(originOf(req, scopes, threadId), req.body, keyed)).record);
  }

  /** Creates a run to be followed; a repeated request gets the run of the first. */
  function follow(
    operation: CreatingOperation,
    asked: { req: RunHandlerRequest; original: RunHandlerRequest; scopes: CreationScopes; threadId?: string },
  ): Promise<FollowedRun> {
    const { req, original, scopes, threadId } = asked;
    const isStateless = threadId === undefined;
    if (!isStateless) requireStrategyPermission(req.caller, req.body);
    const locationOf = (run: RunRecord): RunLocation => ({ runId: run.runId, threadId: run.threadId, isStateless });
    return keys.once<FollowedRun, RunLocation>(operation, original, {
      create: async (request) => {
        const keyed = request && { request, answerOf: locationOf };
        const origin = { ...originOf(req, scopes, threadId), streamsModes: STREAMS.includes(operation) };
        // Its record has the input, which must not be held for as long as the run takes.
        return locationOf((await runs.create(origin, req.body, keyed)).record);
      },
      repeat: (location) => ({ ...location, isRepeated: true }),
    });
  }

  async function joinStream(
    req: HandlerRequest<{ run_id: string; thread_id?: string }, contracts.RunStreamQuery>,
    scopes: ScopesOf<typeof JOINED_RUN>,
  ): Promise<void> {
    requireCancelPermission(req);
    await answers.joinStream(req.params, req.query, clientOf(req, scopes));
  }
}

function clientOf(
  { res, log, headers, caller }: HandlerRequest<unknown, unknown, unknown>,
  [scope, cancelScope]: ScopesOf<typeof JOINED_RUN>,
) {
  return { res, log, headers, caller, scope, cancelScope };
}

/** Returns the client that created a run, which may cancel it. */
function creatorClientOf(req: HandlerRequest<unknown, unknown, unknown>, [scope]: CreationScopes) {
  return clientOf(req, [scope, scope]);
}

/**
 * Requires the right to cancel: a client that may only watch a run must not end it by leaving. @throws ForbiddenError
 */
function requireCancelPermission({ query, caller }: HandlerRequest<unknown, contracts.RunJoinQuery>): void {
  if (isSet(query.cancel_on_disconnect)) requirePermission(caller, 'runs:update');
}

function selectionOf({ thread_id, run_ids, status }: contracts.RunsCancel): CancelSelection {
  if (run_ids !== undefined && thread_id === undefined) {
    throw new UnprocessableError('thread_id is needed with run_ids: the thread the runs are of');
  }
  if (run_ids === undefined && status === undefined) {
    throw new UnprocessableError('Either status, or thread_id and run_ids, must be given');
  }
  if (thread_id !== undefined) return { threadId: thread_id, runIds: run_ids, status };
  return { status: status! };
}

function answerRun(run: contracts.Run, isStateless = false) {
  return ok(run, runHeaders({ runId: run.run_id, threadId: run.thread_id, isStateless }));
}

function answerStatelessRun(run: contracts.Run) {
  return answerRun(run, true);
}
