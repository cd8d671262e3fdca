import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { RefusalCounter } from './admission.ts';
import { ClientDisconnectedError, sendWithoutReading } from './body.ts';

/** Answers an error: a known one with its status, any other with a plain 500. Logs what an operator needs. */
export function answerError(req: IncomingMessage, res: ServerResponse, error: unknown, log: Logger): void {
  if (error instanceof ClientDisconnectedError) {
    res.destroy();
    return;
  }
  report(error, log);
  if (error instanceof AppError && error.refusal) refusalsOf(res)?.count(error.refusal);
  if (res.headersSent) {
    // The status was sent already; only a broken connection can still say that the answer is incomplete.
    if (!res.writableEnded) abortResponse(res);
    return;
  }
  const reply =
    error instanceof AppError
      ? {
          status: error.status,
          headers: error.headers,
          body: { ...error.body, detail: error.body.detail ?? error.message },
        }
      : { status: 500, body: { detail: 'Internal Server Error' } };
  sendWithoutReading(req, res, reply);
}

/** Returns the counter of a service's own app; other apps count for themselves. */
function refusalsOf(res: ServerResponse): RefusalCounter | undefined {
  return (res as { locals?: { refusals?: RefusalCounter } }).locals?.refusals;
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
    log.error('request failed unexpectedly', { error });
    return;
  }
  const fields = { status: error.status, detail: error.message, ...error.internal };
  // Being unavailable for a while is normal at start, at stop, and when dependencies fail, and probes ask often.
  // Exceeded limits are counted, and come in storms: a line for each would use up the rest of the capacity.
  const isCounted = error.refusal !== undefined && error.cause === undefined;
  if (error.status < 500 || isCounted) log.http('request refused', fields);
  else
    log[error.status === 503 || error.status === 507 ? 'warn' : 'error'](
      'request failed',
      error.cause === undefined ? fields : { ...fields, error: error.cause },
    );
}
