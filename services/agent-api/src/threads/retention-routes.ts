import { copyThread, getThreadStorage, pruneThreads } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { UNRESTRICTED } from '../scope.ts';
import type { ThreadRetention } from './thread-retention.ts';

export function retentionRoutes(retention: ThreadRetention): BoundOperation[] {
  return [
    bind(copyThread, async ({ params }) => ok(await retention.copy(UNRESTRICTED, params.thread_id))),
    bind(pruneThreads, async ({ body }) => ok({ pruned_count: await retention.prune(UNRESTRICTED, body) })),
    bind(getThreadStorage, async ({ params }) => ok(await retention.storage(UNRESTRICTED, params.thread_id))),
  ];
}
