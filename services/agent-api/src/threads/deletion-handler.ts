import type { DeletedThread } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

/**
 * Returns what has to be done after threads were deleted: waiters for their runs look, and their events are removed.
 * Events that share a stream with stateless runs expire.
 */
export function createDeletionHandler(options: {
  streams: Pick<RunStreams, 'deleteThread'>;
  wakeWaiting: () => void;
  logger: Logger;
}): (threads: DeletedThread[]) => void {
  return (threads) => {
    options.wakeWaiting();
    // Without Redis they expire by themselves.
    const alone = threads.filter(({ hasStatelessRuns }) => !hasStatelessRuns);
    Promise.all(alone.map((thread) => options.streams.deleteThread(thread))).catch((error: unknown) =>
      options.logger.debug('removing events of deleted threads failed, they will expire', { error }),
    );
  };
}
