import { copyThread, getThreadStorage, pruneThreads, type ThreadCreate } from '@runyard/contracts';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { ok } from '@runyard/service-kit';
import { CREATE_COPY, PRUNE_THREADS, READ_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { ThreadRetention } from './thread-retention.ts';

export function retentionRoutes(
  retention: ThreadRetention,
  keys: IdempotencyKeys,
  guard: RouteGuard,
): GuardedOperation[] {
  return [
    guard.bindCreation(keys, copyThread, [READ_THREAD, CREATE_COPY], ok, ({ params, body }, [source, copy], keyed) => {
      const { metadata = {} } = (body ?? {}) as Pick<ThreadCreate, 'metadata'>;
      return retention.copy({ source, copy }, params.thread_id, { metadata, keyed });
    }),
    guard.bind(pruneThreads, [PRUNE_THREADS], async ({ body }, [scope]) =>
      ok({ pruned_count: await retention.prune(scope, body) }),
    ),
    guard.bind(getThreadStorage, [READ_THREAD], async ({ params }, [scope]) =>
      ok(await retention.storage(scope, params.thread_id)),
    ),
  ];
}
