import { copyThread, getThreadStorage, pruneThreads } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import type { ThreadRetention } from './thread-retention.ts';

export function retentionRoutes(retention: ThreadRetention, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bindCreation(keys, copyThread, ok, ({ params }, keyed) => retention.copy(UNRESTRICTED, params.thread_id, keyed)),
    bind(pruneThreads, async ({ body }) => ok({ pruned_count: await retention.prune(UNRESTRICTED, body) })),
    bind(getThreadStorage, async ({ params }) => ok(await retention.storage(UNRESTRICTED, params.thread_id))),
  ];
}
