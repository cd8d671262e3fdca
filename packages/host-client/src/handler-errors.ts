type Reason = 'failed' | 'late' | 'gone';

/**
 * A handler of an object of the project gave no answer. Reasons: `failed` (it threw, or returned nonsense), `late` (it
 * took too long), `gone` (its host exited).
 */
class HandlerError extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, handler: string, message: string, options?: ErrorOptions) {
    super(`The ${handler} gave no answer: ${message}`, options);
    this.reason = reason;
  }
}

/** A handler of the project's auth object gave no answer that allows or refuses. Nothing is allowed then. */
export class AuthHandlerError extends HandlerError {
  override readonly name = 'AuthHandlerError';
  constructor(reason: Reason, handler: string, message: string, options?: ErrorOptions) {
    super(reason, `auth handler ${handler}`, message, options);
  }
}

/** A handler of the project's encryption object gave no answer. Nothing is written or read then. */
export class EncryptionHandlerError extends HandlerError {
  override readonly name = 'EncryptionHandlerError';
  constructor(reason: Reason, handler: string, message: string, options?: ErrorOptions) {
    super(reason, `encryption handler ${handler}`, message, options);
  }
}
