import { countThreads, createThread, deleteThread, getThread, patchThread, searchThreads } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, noContent, ok, requirePermission } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import { paginationHeaders } from '../http/pagination.ts';
import type { ThreadService } from './thread-service.ts';

export function threadRoutes(threads: ThreadService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bindCreation(keys, createThread, ok, ({ body }, keyed) => threads.create(UNRESTRICTED, body, keyed)),
    bind(getThread, async ({ params, query }) => {
      const wanted = [query.include ?? []].flat().flatMap((names) => names.split(','));
      return ok(await threads.get(UNRESTRICTED, params.thread_id, { withTtl: wanted.includes('ttl') }));
    }),
    bind(patchThread, async ({ params, body, headers, caller }) => {
      // A ttl deletes in the end.
      if (body.ttl) requirePermission(caller, 'runs:delete');
      await threads.patch(UNRESTRICTED, params.thread_id, body);
      const wantsNothing = /(^|[\s,;])return=minimal([\s,;]|$)/.test(String(headers.prefer ?? ''));
      return wantsNothing ? noContent() : ok(await threads.get(UNRESTRICTED, params.thread_id));
    }),
    bind(deleteThread, async ({ params }) => {
      await threads.delete(UNRESTRICTED, params.thread_id);
      return noContent();
    }),
    bind(searchThreads, async ({ body }) => {
      const page = await threads.search(UNRESTRICTED, body);
      return ok(page.rows, paginationHeaders(page));
    }),
    bind(countThreads, async ({ body }) => ok(await threads.count(UNRESTRICTED, body))),
  ];
}
