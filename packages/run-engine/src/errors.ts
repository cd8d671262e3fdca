import { AppError, UnavailableError } from '@runyard/service-kit';

/**
 * The writer no longer owns the thread: another attempt, a hand-back, a rollback or a delete took it. Whoever gets this
 * stops writing at once; nothing of what it tried took effect.
 */
export class FencedError extends AppError {
  readonly status = 409;

  constructor(threadId: string, epoch: bigint) {
    super('The thread was taken over by another attempt.', { internal: { threadId, epoch: String(epoch) } });
  }
}

/**
 * Somebody else works on the thread for now: its row is locked, or what a deleted thread of its id has left is being removed. Nothing
 * was changed. Its code is that of a lock that was not got.
 */
export class ThreadHeldError extends UnavailableError {
  readonly code = '55P03';

  constructor(threadId: string) {
    super('The thread is held by another operation', {
      retryAfterSeconds: 1,
      refusal: 'database',
      internal: { threadId },
    });
  }
}
