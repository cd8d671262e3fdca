import type { DeletedThread } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

/**
 * Returns what has to be done after threads were deleted: waiters for their runs look, and their events are removed.
 */
export function afterDeletion(options: {
  streams: Pick<RunStreams, 'forget'>;
  tellWaiting: () => void;
  logger: Logger;
}): (threads: DeletedThread[]) => void {
  return (threads) => {
    options.tellWaiting();
    // Without Redis they expire by themselves.
    Promise.all(threads.map((thread) => options.streams.forget(thread))).catch((error: unknown) =>
      options.logger.debug('the events of deleted threads could not be removed', { error }),
    );
  };
}
