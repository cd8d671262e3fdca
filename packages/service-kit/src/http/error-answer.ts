import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '@runyard/contracts';
import { AppError, ClientDisconnectedError, errorCodeOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { ErrorMetrics } from './error-metrics.ts';
import { type Reply, sendReply } from './reply.ts';

/** Returns an error answer in the form of the request's path; `reply` is the usual one. */
export type ErrorForm = (req: IncomingMessage, reply: Reply & { body: Record<string, unknown> }) => Reply;

/**
 * Answers an error: a known one with its status, any other with a plain 500. Counts it, and logs what an operator needs.
 * Returns its code; undefined when the client is gone.
 */
export function answerError(
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
  {
    log,
    errors,
    form = (_req, reply) => reply,
  }: { log: Logger; errors: Pick<ErrorMetrics, 'count'>; form?: ErrorForm | undefined },
): ErrorCode | undefined {
  if (error instanceof ClientDisconnectedError) {
    res.destroy();
    return undefined;
  }
  const code = errorCodeOf(error);
  report(error, log);
  errors.count(code);
  if (res.headersSent) {
    // The status was sent already; only a broken connection can still say that the answer is incomplete.
    if (!res.writableEnded) abortResponse(res);
    return code;
  }
  const reply =
    error instanceof AppError
      ? {
          status: error.status,
          headers: error.headers,
          body: { ...error.body, detail: error.body.detail ?? error.message },
        }
      : { status: 500, body: { detail: 'Internal Server Error' } };
  sendReply(res, form(req, reply));
  return code;
}

const ABORT_MS = 5_000;

/** Sends what was written so far and closes the connection without the end mark of a complete answer. */
export function abortResponse(res: ServerResponse): void {
  const { socket } = res;
  if (!socket || socket.destroyed) {
    res.destroy();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), ABORT_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.destroySoon();
}

function report(error: unknown, log: Logger): void {
  if (!(error instanceof AppError)) {
    log.error('request failed unexpectedly', { code: errorCodeOf(error), error });
    return;
  }
  const fields = { status: error.status, code: error.code, detail: error.message, ...error.internal };
  // Being unavailable for a while is normal at start, at stop, and when dependencies fail, and probes ask often.
  // Exceeded limits are counted, and come in storms: a line for each would use up the rest of the capacity.
  const isCounted = ERROR_CATALOGUE[error.code].refusal !== undefined && error.cause === undefined;
  if (error.status < 500 || isCounted) log.http('request refused', fields);
  else
    log[error.status === 503 || error.status === 507 ? 'warn' : 'error'](
      'request failed',
      error.cause === undefined ? fields : { ...fields, error: error.cause },
    );
}
