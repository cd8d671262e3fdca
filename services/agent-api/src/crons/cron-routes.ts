import * as contracts from '@runyard/contracts';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { noContent, ok, type Principal, requirePermission } from '@runyard/service-kit';
import {
  CHANGE_RUNS_OF_CRON,
  CREATE_CRON,
  CREATE_RUNS_OF_CRON,
  DELETE_CRON,
  READ_ASSISTANT_OF_CRON,
  READ_ASSISTANT_OF_RUN,
  READ_CRON,
  SEARCH_CRONS,
  UPDATE_CRON,
} from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard, ScopesOf } from '../auth/route-guard.ts';
import { creatorOf } from '../auth/user-caller.ts';
import { closedAnswer } from '../http/closed-answer.ts';
import { paginationHeaders } from '../http/pagination.ts';
import { requireStrategyPermission } from '../runs/strategy-permission.ts';
import type { CronOrigin, CronService } from './cron-service.ts';

const CREATED_CRON = [CREATE_CRON, CREATE_RUNS_OF_CRON, READ_ASSISTANT_OF_RUN] as const;
const CHANGED_CRON = [UPDATE_CRON, CHANGE_RUNS_OF_CRON, READ_ASSISTANT_OF_CRON] as const;

export function cronRoutes(crons: CronService, keys: IdempotencyKeys, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.bindCreation(keys, contracts.createCron, CREATED_CRON, ok, (req, scopes, keyed) =>
      crons.create(originOf(req.caller, scopes), req.body, keyed),
    ),
    guard.bindCreation(keys, contracts.createThreadCron, CREATED_CRON, ok, async (req, scopes, keyed) => {
      requireStrategyPermission(req.caller, req.body);
      return crons.create({ ...originOf(req.caller, scopes), threadId: req.params.thread_id }, req.body, keyed);
    }),
    guard.bind(contracts.searchCrons, [SEARCH_CRONS], async ({ body, res }, [scope]) => {
      const page = await crons.search(scope, body, closedAnswer(res));
      return ok(page.rows, paginationHeaders(page));
    }),
    guard.bind(contracts.countCrons, [SEARCH_CRONS], async ({ body }, [scope]) => ok(await crons.count(scope, body))),
    ...[contracts.getCron, contracts.getCronAlias].map((operation) =>
      guard.bind(operation, [READ_CRON], async ({ params }, [scope]) => ok(await crons.get(scope, params.cron_id))),
    ),
    ...[contracts.updateCron, contracts.updateCronAlias].map((operation) =>
      guard.bind(operation, CHANGED_CRON, async ({ params, body, caller }, scopes) => {
        // A change decides which runs will be created, as a creation does.
        requirePermission(caller, 'runs:create');
        requireStrategyPermission(caller, body);
        return ok(await crons.patch(originOf(caller, scopes), params.cron_id, body));
      }),
    ),
    ...[contracts.deleteCron, contracts.deleteCronAlias].map((operation) =>
      guard.bind(operation, [DELETE_CRON], async ({ params }, [scope]) => {
        await crons.delete(scope, params.cron_id);
        return noContent();
      }),
    ),
  ];
}

function originOf(caller: Principal, [cronScope, scope, assistantScope]: ScopesOf<typeof CREATED_CRON>): CronOrigin {
  return { cronScope, scope, assistantScope, ...creatorOf(caller) };
}
