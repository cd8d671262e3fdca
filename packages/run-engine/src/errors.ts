import { AppError, UnavailableError } from '@runyard/service-kit';

/**
 * The writer no longer owns the thread: another attempt, a release, a rollback or a delete took it. The receiver must
 * stop writing at once; nothing of the failed write took effect.
 */
export class FencedError extends AppError<409> {
  readonly status = 409;

  constructor(threadId: string, epoch: bigint) {
    super('The thread was taken over by another attempt.', {
      code: 'thread_taken_over',
      internal: { threadId, epoch: String(epoch) },
    });
  }
}

/** A task has as many receivers of push notifications as it may. Protocols give it their own form. */
export class TooManyPushConfigsError extends Error {
  override readonly name = 'TooManyPushConfigsError';

  constructor(max: number) {
    super(`A task has at most ${max} push notification configurations`);
  }
}

/**
 * Another transaction holds the thread for now: its row is locked, or the rows of a deleted thread with its id are
 * being removed. Nothing was changed. It has the SQLSTATE of a lock that was not available.
 */
export class ThreadHeldError extends UnavailableError {
  readonly sqlState = '55P03';

  constructor(threadId: string) {
    super('The thread is held by another operation', {
      retryAfterSeconds: 1,
      code: 'thread_held',
      internal: { threadId },
    });
  }
}
