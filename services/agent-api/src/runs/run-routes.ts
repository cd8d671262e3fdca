import * as contracts from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys, type KeyedRequest } from '@runyard/idempotency';
import type { CancelSelection, RunRecord } from '@runyard/run-engine';
import {
  type BoundOperation,
  bind,
  type HandlerRequest,
  noContent,
  ok,
  requirePermission,
  UnprocessableError,
} from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import { isSet } from '../http/query-flag.ts';
import type { RunOrigin } from './accepted-run.ts';
import type { FollowedRun } from './followed-run.ts';
import type { RunAnswers } from './run-answers.ts';
import type { RunRequest } from './run-arguments.ts';
import { type RunLocation, runHeaders } from './run-locations.ts';
import type { RunService } from './run-service.ts';
import { toWireRun } from './run-wire.ts';

type RunHandlerRequest = HandlerRequest<unknown, unknown, RunRequest>;
type CreatingOperation = Parameters<IdempotencyKeys['once']>[0];

/** Serves the run operations. The service creates runs; `answers` sends them to clients. */
export function runRoutes(
  runs: RunService,
  answers: RunAnswers,
  keys: IdempotencyKeys,
  configurableHeaders: PickHeaders = () => ({}),
): BoundOperation[] {
  return [
    bindCreation(keys, contracts.createRun, answerRun, (req, keyed) => create(req, keyed, req.params.thread_id)),
    bindCreation(keys, contracts.createStatelessRun, answerStatelessRun, create),
    bindCreation(keys, contracts.createRunBatch, ok, async (req, request) => {
      const wire = (records: RunRecord[]) => records.map(toWireRun);
      const created = await runs.createBatch(originOf(req), req.body, request && { request, answerOf: wire });
      return wire(created.map(({ record }) => record));
    }),
    bind(contracts.streamRun, async (req) => {
      await answers.stream(await follow(contracts.streamRun, req, req.params.thread_id), req.body, clientOf(req));
    }),
    bind(contracts.streamStatelessRun, async (req) => {
      await answers.stream(await follow(contracts.streamStatelessRun, req), req.body, clientOf(req));
    }),
    bind(contracts.waitRun, async (req) => {
      const run = await follow(contracts.waitRun, req, req.params.thread_id);
      await answers.wait(run, req.body, req.query, clientOf(req));
    }),
    bind(contracts.waitStatelessRun, async (req) => {
      await answers.wait(await follow(contracts.waitStatelessRun, req), req.body, req.query, clientOf(req));
    }),

    bind(contracts.listRuns, async ({ params, query }) => ok(await runs.list(UNRESTRICTED, params.thread_id, query))),
    bind(contracts.getRun, async ({ params }) =>
      ok(toWireRun(await runs.find(UNRESTRICTED, params.thread_id, params.run_id))),
    ),
    bind(contracts.getStatelessRun, async ({ params }) =>
      ok(toWireRun(await runs.findById(UNRESTRICTED, params.run_id))),
    ),
    bind(contracts.deleteRun, async ({ params }) => {
      await runs.delete(UNRESTRICTED, params.thread_id, params.run_id);
      return noContent();
    }),

    bind(contracts.joinRun, async (req) => {
      requireCancelPermission(req);
      await answers.join(req.params, req.query, clientOf(req));
    }),
    bind(contracts.joinRunStream, async (req) => {
      requireCancelPermission(req);
      await answers.joinStream(req.params, req.query, clientOf(req));
    }),
    bind(contracts.joinRunStreamAlias, async (req) => {
      requireCancelPermission(req);
      await answers.joinStream(req.params, req.query, clientOf(req));
    }),
    bind(contracts.joinStatelessRunStream, async (req) => {
      requireCancelPermission(req);
      await answers.joinStream(req.params, req.query, clientOf(req));
    }),

    bind(contracts.cancelRun, async (req) => {
      const { thread_id: threadId, run_id: runId } = req.params;
      const action = req.query.action ?? 'interrupt';
      if (action === 'rollback') requirePermission(req.caller, 'runs:delete');
      const reason = `${action} requested via POST /threads/{thread_id}/runs/{run_id}/cancel`;
      await runs.cancel(UNRESTRICTED, { threadId, runIds: [runId] }, action, reason);
      if (!isSet(req.query.wait)) return { status: 202 };
      await answers.answerCancelled({ threadId, runId }, clientOf(req));
    }),
    bind(contracts.cancelRuns, async ({ body, query, caller }) => {
      const action = query.action ?? 'interrupt';
      if (action === 'rollback') requirePermission(caller, 'runs:delete');
      await runs.cancel(UNRESTRICTED, selectionOf(body), action, `${action} requested via POST /runs/cancel`);
      return noContent();
    }),
  ];

  function originOf(
    { caller, res, headers }: Pick<HandlerRequest, 'caller' | 'res' | 'headers'>,
    threadId?: string,
  ): RunOrigin {
    return {
      ...(threadId !== undefined && { threadId }),
      scope: UNRESTRICTED,
      assistantScope: UNRESTRICTED,
      userId: caller.identity,
      requestId: String(res.getHeader('x-request-id') ?? ''),
      headers: configurableHeaders(headers),
    };
  }

  async function create(req: RunHandlerRequest, request: KeyedRequest | undefined, threadId?: string) {
    const keyed = request && { request, answerOf: toWireRun };
    return toWireRun((await runs.create(originOf(req, threadId), req.body, keyed)).record);
  }

  /** Creates a run to be followed; a repeated request gets the run of the first. */
  function follow(operation: CreatingOperation, req: RunHandlerRequest, threadId?: string): Promise<FollowedRun> {
    const isStateless = threadId === undefined;
    const locationOf = (run: RunRecord): RunLocation => ({ runId: run.runId, threadId: run.threadId, isStateless });
    return keys.once<FollowedRun, RunLocation>(operation, req, {
      create: (request) => runs.create(originOf(req, threadId), req.body, request && { request, answerOf: locationOf }),
      repeat: (location) => ({ ...location, isRepeated: true }),
    });
  }
}

function clientOf({ res, log, headers, caller }: HandlerRequest<unknown, unknown, unknown>) {
  return { res, log, headers, caller, scope: UNRESTRICTED };
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
