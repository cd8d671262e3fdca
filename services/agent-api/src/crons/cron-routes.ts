import * as contracts from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, type HandlerRequest, noContent, ok, requirePermission } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import { paginationHeaders } from '../http/pagination.ts';
import type { CronOrigin, CronService } from './cron-service.ts';

export function cronRoutes(crons: CronService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bindCreation(keys, contracts.createCron, ok, (req, keyed) => crons.create(originOf(req), req.body, keyed)),
    bindCreation(keys, contracts.createThreadCron, ok, (req, keyed) =>
      crons.create({ ...originOf(req), threadId: req.params.thread_id }, req.body, keyed),
    ),
    bind(contracts.searchCrons, async ({ body }) => {
      const page = await crons.search(UNRESTRICTED, body);
      return ok(page.rows, paginationHeaders(page));
    }),
    bind(contracts.countCrons, async ({ body }) => ok(await crons.count(UNRESTRICTED, body))),
    ...[contracts.getCron, contracts.getCronAlias].map((operation) =>
      bind(operation, async ({ params }) => ok(await crons.get(UNRESTRICTED, params.cron_id))),
    ),
    ...[contracts.updateCron, contracts.updateCronAlias].map((operation) =>
      bind(operation, async ({ params, body, caller }) => {
        // A change decides which runs will be created, as a creation does.
        requirePermission(caller, 'runs:create');
        return ok(await crons.patch(UNRESTRICTED, params.cron_id, body));
      }),
    ),
    ...[contracts.deleteCron, contracts.deleteCronAlias].map((operation) =>
      bind(operation, async ({ params }) => {
        await crons.delete(UNRESTRICTED, params.cron_id);
        return noContent();
      }),
    ),
  ];
}

function originOf({ caller }: Pick<HandlerRequest, 'caller'>): CronOrigin {
  return { cronScope: UNRESTRICTED, scope: UNRESTRICTED, assistantScope: UNRESTRICTED, userId: caller.identity };
}
