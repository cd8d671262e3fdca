import { ERROR_CATALOGUE, type ErrorCode, type ErrorCodeOf } from '@runyard/contracts';

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
}

/** The context of an error whose status alone does not say what to do: it names a code of the catalogue. */
export type CodedContext<Status extends number> = ErrorContext & { code: ErrorCodeOf<Status> };

/** The context of an error that may have a code of its own, and has its status' general one otherwise. */
export type OptionallyCodedContext<Status extends number> = ErrorContext & { code?: ErrorCodeOf<Status> };

export abstract class AppError<Status extends number = number> extends Error {
  abstract readonly status: number;
  /** Names the error in logs and metrics; never sent. */
  readonly code: ErrorCodeOf<Status>;
  readonly internal: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;

  constructor(message: string, context: CodedContext<Status>) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.name = new.target.name;
    this.code = context.code;
    this.internal = context.internal;
    this.headers = context.headers ?? {};
    this.body = context.body ?? {};
  }
}

/** Returns the code of an error of any class; `internal_error` for one that nobody has foreseen. */
export function errorCodeOf(error: unknown): ErrorCode {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code) ? (code as ErrorCode) : 'internal_error';
}

/** The request contradicts itself or asks for something impossible, although its shape is right. */
export class BadRequestError extends AppError<400> {
  readonly status = 400;

  constructor(message: string, { code = 'bad_request', ...context }: OptionallyCodedContext<400> = {}) {
    super(message, { ...context, code });
  }
}

/** The caller could not be authenticated. */
export class UnauthorizedError extends AppError<401> {
  readonly status = 401;
}

/** The caller has used up what it may use. */
export class PaymentRequiredError extends AppError<402> {
  readonly status = 402;
}

/** The caller is known and may not do this. Where even the existence is a secret, use NotFoundError. */
export class ForbiddenError extends AppError<403> {
  readonly status = 403;
}

/** The object does not exist, or the caller may not see it. */
export class NotFoundError extends AppError<404> {
  readonly status = 404;

  constructor(message: string, { code = 'not_found', ...context }: OptionallyCodedContext<404> = {}) {
    super(message, { ...context, code });
  }
}

/** The state of the object forbids this now, or it exists already. Clients are told not to repeat the request. */
export class ConflictError extends AppError<409> {
  readonly status = 409;

  constructor(message: string, context: CodedContext<409>) {
    super(message, { ...context, headers: { 'x-should-retry': 'false', ...context.headers } });
  }
}

/** The body exceeds the limit. */
export class PayloadTooLargeError extends AppError<413> {
  readonly status = 413;
}

/** The operation does not accept the content type of the body. */
export class UnsupportedMediaTypeError extends AppError<415> {
  readonly status = 415;

  constructor(message: string, { code = 'unsupported_media_type', ...context }: OptionallyCodedContext<415> = {}) {
    super(message, { ...context, code });
  }
}

/** The request does not have the shape of the contract. */
export class UnprocessableError extends AppError<422> {
  readonly status = 422;

  constructor(message: string, { code = 'invalid_request', ...context }: OptionallyCodedContext<422> = {}) {
    super(message, { ...context, code });
  }
}

interface InvalidField {
  /** The `type` of the issue in the answer. */
  type?: string;
  code?: ErrorCodeOf<422>;
}

/** A field of the request has the right form and an impossible value; the answer names the field. */
export class InvalidFieldError extends UnprocessableError {
  constructor(loc: (string | number)[], msg: string, { type = 'value_error', code }: InvalidField = {}) {
    super(`${loc.join('.')}: ${msg}`, { body: { detail: [{ loc, msg, type }] }, ...(code && { code }) });
  }
}

/** The request came in a version of HTTP that is too old for its path. */
export class UpgradeRequiredError extends AppError<426> {
  readonly status = 426;

  constructor(message: string) {
    super(message, {
      code: 'http_version_unsupported',
      headers: { upgrade: 'HTTP/1.1', connection: 'close, upgrade' },
    });
  }
}

interface Retried {
  retryAfterSeconds?: number;
}

/** The caller exceeds a limit; `retryAfterSeconds` says when to try again. */
export class TooManyRequestsError extends AppError<429> {
  readonly status = 429;

  constructor(message: string, context: CodedContext<429> & Retried) {
    super(message, withRetryAfter(context));
  }
}

/** A service behind this one closed the connection or sent an invalid answer. */
export class BadGatewayError extends AppError<502> {
  readonly status = 502;
}

/** A dependency is unavailable for now; the same request may work after `retryAfterSeconds`, 1 by default. */
export class UnavailableError extends AppError<503> {
  readonly status = 503;

  constructor(message: string, context: CodedContext<503> & Retried) {
    super(message, withRetryAfter({ retryAfterSeconds: 1, ...context }));
  }
}

/** The storage is full until something is deleted. */
export class InsufficientStorageError extends AppError<507> {
  readonly status = 507;
}

/** The client disconnected: nobody can be answered, and there is nothing to report. */
export class ClientDisconnectedError extends Error {
  constructor(cause?: unknown) {
    super('the client closed the connection', cause === undefined ? undefined : { cause });
    this.name = 'ClientDisconnectedError';
  }
}

function withRetryAfter<Context extends ErrorContext & Retried>(context: Context): Context {
  if (context.retryAfterSeconds === undefined) return context;
  return { ...context, headers: { ...context.headers, 'retry-after': String(Math.ceil(context.retryAfterSeconds)) } };
}
