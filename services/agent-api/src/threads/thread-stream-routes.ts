import { joinThreadStream } from '@runyard/contracts';
import { parseEventId } from '@runyard/run-stream';
import { NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { isRestricted } from '../access/scope.ts';
import { READ_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { acceptsHandoff } from '../streams/continuation.ts';
import { sendThreadEvents, type ThreadStreamSources } from '../streams/send-thread-events.ts';
import { parseThreadStreamModes } from '../streams/stream-filter.ts';
import { ThreadAccess } from './thread-access.ts';
import type { ThreadStore } from './thread-store.ts';

/** Serves the stream of a whole thread, over all its runs. */
export function threadStreamRoutes(
  threads: Pick<ThreadStore, 'findWithoutState' | 'isStatelessRunVisible'>,
  sources: ThreadStreamSources,
  guard: RouteGuard,
): GuardedOperation[] {
  return [
    guard.bind(joinThreadStream, [READ_THREAD], async ({ params, query, headers, res, raw }, [scope]) => {
      const { thread_id: threadId } = params;
      const modes = parseThreadStreamModes(query.stream_mode, query.stream_modes);
      const afterId = lastEventId(headers['last-event-id']);
      if (!(await threads.findWithoutState(scope, threadId))) {
        throw new NotFoundError(`Thread with ID ${threadId} not found`);
      }
      const continuationPath = acceptsHandoff(headers) ? raw.url : undefined;
      const access = isRestricted(scope) ? new ThreadAccess(threads, scope, threadId) : undefined;
      await sendThreadEvents(sources, { threadId, afterId, modes, access, continuationPath }, res);
    }),
  ];
}

function lastEventId(header: string | string[] | undefined): string | undefined {
  if (header === undefined || header === '') return undefined;
  const id = parseEventId(String(header));
  if (id === undefined) {
    throw new UnprocessableError('Invalid last-event-id: must be a valid Redis stream ID, or -1 for all that is kept');
  }
  return id;
}
