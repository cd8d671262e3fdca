/**
 * The kinds of failure a caller is told about. Code throws a kind; the app answers it as `{"detail": message}` with the
 * kind's status. `message` is for the caller; `internal` and `cause` are for the log alone.
 *
 * Anything else that is thrown answers a plain 500 and is logged whole.
 */
export interface ErrorContext {
  /** Fields for the log; never sent. */
  internal?: Record<string, unknown>;
  cause?: unknown;
  /** Further headers of the answer. */
  headers?: Record<string, string>;
  /** Fields of the answer beside `detail`. */
  body?: Record<string, unknown>;
  /** What there was no room for, or what was away: counted in `http_requests_refused_total`. */
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

/** The request contradicts itself or asks for something that cannot be, although its shape is right. */
export class BadRequestError extends AppError {
  readonly status = 400;
}

/** Who the caller is could not be established. */
export class UnauthorizedError extends AppError {
  readonly status = 401;
}

/** The caller is known and may not do this. Where even the existence is a secret, NotFoundError is right. */
export class ForbiddenError extends AppError {
  readonly status = 403;
}

/** There is no such thing, or none this caller may see. */
export class NotFoundError extends AppError {
  readonly status = 404;
}

/** The thing is in a state that forbids this now, or exists already. */
export class ConflictError extends AppError {
  readonly status = 409;
}

/** The body is larger than the service takes. */
export class PayloadTooLargeError extends AppError {
  readonly status = 413;
}

/** The body is of a content type that the operation does not take. */
export class UnsupportedMediaTypeError extends AppError {
  readonly status = 415;
}

/** The request does not have the shape the contract asks for. */
export class UnprocessableError extends AppError {
  readonly status = 422;
}

/** A field of the request has the right form and a value that cannot be meant; the answer names its place. */
export class InvalidFieldError extends UnprocessableError {
  constructor(loc: (string | number)[], msg: string, type = 'value_error') {
    super(`${loc.join('.')}: ${msg}`, { body: { detail: [{ loc, msg, type }] } });
  }
}

/** The caller is over a limit; `retryAfterSeconds` says when to come back. */
export class TooManyRequestsError extends AppError {
  readonly status = 429;

  constructor(message: string, context: ErrorContext & { retryAfterSeconds?: number } = {}) {
    super(message, withRetryAfter(context));
  }
}

/** A service behind this one broke off or answered nonsense. */
export class BadGatewayError extends AppError {
  readonly status = 502;
}

/** Something this service needs is away for now; the same request may work after `retryAfterSeconds`, 1 by default. */
export class UnavailableError extends AppError {
  readonly status = 503;

  constructor(message: string, context: ErrorContext & { retryAfterSeconds?: number } = {}) {
    super(message, withRetryAfter({ retryAfterSeconds: 1, ...context }));
  }
}

/** There is no room left to keep what was sent, and there will be none until something is removed. */
export class InsufficientStorageError extends AppError {
  readonly status = 507;
}

function withRetryAfter(context: ErrorContext & { retryAfterSeconds?: number }): ErrorContext {
  if (context.retryAfterSeconds === undefined) return context;
  return { ...context, headers: { ...context.headers, 'retry-after': String(Math.ceil(context.retryAfterSeconds)) } };
}
