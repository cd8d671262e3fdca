import { UnavailableError } from '@runyard/service-kit';

/** Another attempt owns the thread: the caller must stop writing. Nothing was appended. */
export class StaleEpochError extends Error {
  readonly threadId: string;
  constructor(threadId: string, epoch: bigint) {
    super(`Thread ${threadId} has a newer owner than epoch ${epoch}.`);
    this.name = 'StaleEpochError';
    this.threadId = threadId;
  }
}

/**
 * Redis did not accept the command in time. The events of an append may be missing from the stream (the next append of
 * this process marks the gap); the run itself goes on.
 */
export class StreamUnavailableError extends UnavailableError {
  constructor(cause: unknown) {
    super('The event stream is not available', { code: 'stream_unavailable', cause, retryAfterSeconds: 1 });
  }
}
