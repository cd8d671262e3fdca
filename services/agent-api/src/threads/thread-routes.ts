import { countThreads, createThread, deleteThread, getThread, patchThread, searchThreads } from '@runyard/contracts';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { noContent, ok, requirePermission } from '@runyard/service-kit';
import {
  CREATE_THREAD,
  DELETE_THREAD,
  READ_EXISTING_THREAD,
  READ_THREAD,
  SEARCH_THREADS,
  UPDATE_THREAD,
} from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { closedAnswer } from '../http/closed-answer.ts';
import { paginationHeaders } from '../http/pagination.ts';
import type { ThreadService } from './thread-service.ts';

export function threadRoutes(threads: ThreadService, keys: IdempotencyKeys, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.bindCreation(
      keys,
      createThread,
      [CREATE_THREAD, READ_EXISTING_THREAD],
      ok,
      ({ body }, [scope, existing], keyed) => threads.create(scope, body, { existing, keyed }),
    ),
    guard.bind(getThread, [READ_THREAD], async ({ params, query }, [scope]) => {
      const wanted = [query.include ?? []].flat().flatMap((names) => names.split(','));
      return ok(await threads.get(scope, params.thread_id, { withTtl: wanted.includes('ttl') }));
    }),
    guard.bind(patchThread, [UPDATE_THREAD], async ({ params, body, headers, caller }, [scope]) => {
      // A ttl deletes in the end.
      if (body.ttl) requirePermission(caller, 'runs:delete');
      await threads.patch(scope, params.thread_id, body);
      const wantsNothing = /(^|[\s,;])return=minimal([\s,;]|$)/.test(String(headers.prefer ?? ''));
      return wantsNothing ? noContent() : ok(await threads.get(scope, params.thread_id));
    }),
    guard.bind(deleteThread, [DELETE_THREAD], async ({ params }, [scope]) => {
      await threads.delete(scope, params.thread_id);
      return noContent();
    }),
    guard.bind(searchThreads, [SEARCH_THREADS], async ({ body, res }, [scope]) => {
      const page = await threads.search(scope, body, closedAnswer(res));
      return ok(page.rows, paginationHeaders(page));
    }),
    guard.bind(countThreads, [SEARCH_THREADS], async ({ body }, [scope]) => ok(await threads.count(scope, body))),
  ];
}
