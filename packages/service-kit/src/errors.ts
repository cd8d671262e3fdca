/**
 * Failures that a caller sees. Code throws one of these errors; the app answers `{"detail": message}` with the error's
 * status. `message` is for the caller; `internal` and `cause` are for the log alone.
 *
 * Any other error becomes a plain 500 and is logged completely.
 */
export interface ErrorContext {
  /** Fields for the log; never sent. */
  internal?: Record<string, unknown>;
  cause?: unknown;
  /** Additional headers of the answer. */
  headers?: Record<string, string>;
  /** Fields of the answer in addition to `detail`. */
  body?: Record<string, unknown>;
  /** The exceeded limit, or the unavailable part: counted in `http_requests_refused_total`. */
  refusal?: RefusalReason;
}

export type RefusalReason =
  | 'requests_in_flight'
  | 'body_bytes'
  | 'open_streams'
  | 'result_bytes'
  | 'requests_of_key'
  | 'requests_of_upstream'
  | 'arrival_delay'
  | `rate_of_${string}`
  | 'write_queue'
  | 'database'
  | 'object_storage';

export abstract class AppError extends Error {
  abstract readonly status: number;
  readonly internal: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
  readonly refusal: RefusalReason | undefined;

  constructor(message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.name = new.target.name;
    this.internal = context.internal;
    this.headers = context.headers ?? {};
    this.body = context.body ?? {};
    this.refusal = context.refusal;
  }
}

/** The request contradicts itself or asks for something impossible, although its shape is right. */
export class BadRequestError extends AppError {
  readonly status = 400;
}

/** The caller could not be authenticated. */
export class UnauthorizedError extends AppError {
  readonly status = 401;
}

/** The caller is known and may not do this. Where even the existence is a secret, use NotFoundError. */
export class ForbiddenError extends AppError {
  readonly status = 403;
}

/** The object does not exist, or the caller may not see it. */
export class NotFoundError extends AppError {
  readonly status = 404;
}

/** The state of the object forbids this now, or it exists already. */
export class ConflictError extends AppError {
  readonly status = 409;
}

/** The body exceeds the limit. */
export class PayloadTooLargeError extends AppError {
  readonly status = 413;
}

/** The operation does not accept the content type of the body. */
export class UnsupportedMediaTypeError extends AppError {
  readonly status = 415;
}

/** The request does not have the shape of the contract. */
export class UnprocessableError extends AppError {
  readonly status = 422;
}

/** A field of the request has the right form and an impossible value; the answer names the field. */
export class InvalidFieldError extends UnprocessableError {
  constructor(loc: (string | number)[], msg: string, type = 'value_error') {
    super(`${loc.join('.')}: ${msg}`, { body: { detail: [{ loc, msg, type }] } });
  }
}

/** The caller exceeds a limit; `retryAfterSeconds` says when to try again. */
export class TooManyRequestsError extends AppError {
  readonly status = 429;

  constructor(message: string, context: ErrorContext & { retryAfterSeconds?: number } = {}) {
    super(message, withRetryAfter(context));
  }
}

/** A service behind this one closed the connection or sent an invalid answer. */
export class BadGatewayError extends AppError {
  readonly status = 502;
}

/** A dependency is unavailable for now; the same request may work after `retryAfterSeconds`, 1 by default. */
export class UnavailableError extends AppError {
  readonly status = 503;

  constructor(message: string, context: ErrorContext & { retryAfterSeconds?: number } = {}) {
    super(message, withRetryAfter({ retryAfterSeconds: 1, ...context }));
  }
}

/** The storage is full until something is deleted. */
export class InsufficientStorageError extends AppError {
  readonly status = 507;
}

function withRetryAfter(context: ErrorContext & { retryAfterSeconds?: number }): ErrorContext {
  if (context.retryAfterSeconds === undefined) return context;
  return { ...context, headers: { ...context.headers, 'retry-after': String(Math.ceil(context.retryAfterSeconds)) } };
}
