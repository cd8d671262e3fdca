import { AppError } from '@runyard/service-kit';

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
