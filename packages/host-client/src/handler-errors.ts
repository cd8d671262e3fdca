/**
 * A handler of the project's auth object gave no answer that allows or refuses. Reasons: `failed` (it threw, or returned
 * nonsense), `late` (it took too long), `gone` (its host exited). Nothing is allowed then.
 */
export class AuthHandlerError extends Error {
  readonly reason: 'failed' | 'late' | 'gone';
  constructor(reason: 'failed' | 'late' | 'gone', handler: string, message: string, options?: ErrorOptions) {
    super(`The auth handler ${handler} gave no answer: ${message}`, options);
    this.name = 'AuthHandlerError';
    this.reason = reason;
  }
}

/**
 * A handler of the project's encryption object gave no answer. Reasons: `failed` (it threw, or returned nonsense),
 * `late` (it took too long), `gone` (its host exited). Nothing is written or read then.
 */
export class EncryptionHandlerError extends Error {
  readonly reason: 'failed' | 'late' | 'gone';
  constructor(reason: 'failed' | 'late' | 'gone', handler: string, message: string, options?: ErrorOptions) {
    super(`The encryption handler ${handler} gave no answer: ${message}`, options);
    this.name = 'EncryptionHandlerError';
    this.reason = reason;
  }
}
