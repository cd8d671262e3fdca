import type { RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

/** What is to be done when threads are gone: whoever waits for a run of theirs looks, and their events go. */
export function afterDeletion(options: {
  streams: Pick<RunStreams, 'forget'>;
  tellWaiting: () => void;
  logger: Logger;
}): (threadIds: string[]) => void {
  return (threadIds) => {
    options.tellWaiting();
    // Without Redis they go by themselves when their time is over.
    Promise.all(threadIds.map((threadId) => options.streams.forget(threadId))).catch((error: unknown) =>
      options.logger.debug('the events of deleted threads could not be removed', { error }),
    );
  };
}
