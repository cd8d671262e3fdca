import type { DeletedThread } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

/** What is to be done when threads are gone: whoever waits for a run of theirs looks, and their events go. */
export function afterDeletion(options: {
  streams: Pick<RunStreams, 'forget'>;
  tellWaiting: () => void;
  logger: Logger;
}): (threads: DeletedThread[]) => void {
  return (threads) => {
    options.tellWaiting();
    // Without Redis they go by themselves when their time is over.
    Promise.all(threads.map((thread) => options.streams.forget(thread))).catch((error: unknown) =>
      options.logger.debug('the events of deleted threads could not be removed', { error }),
    );
  };
}
