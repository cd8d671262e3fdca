import { AppError, BadGatewayError, ClientDisconnectedError, UnavailableError } from '@runyard/service-kit';
import { NoRoomError } from '../limits/upstream-load.ts';

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The upstream got the request and says that it did nothing with it. */
export class UntouchedError extends Error {
  override readonly name = 'UntouchedError';
}

/** The upstream refused to continue an answer that another one began. */
export class ContinuationRefusedError extends Error {
  override readonly name = 'ContinuationRefusedError';
  /** True when a repetition would be refused too. */
  readonly isFinal: boolean;

  constructor(status: number) {
    super(`continuation refused: status ${status}`);
    this.isFinal = status < 500 && status !== 429;
  }
}

/** Returns whether the upstream never got the request, which then may go to another one. */
export function isConnectFailure(error: unknown): boolean {
  const { code, errors } = (error ?? {}) as { code?: string; errors?: unknown[] };
  if (errors) return errors.every(isConnectFailure);
  return code !== undefined && NOT_CONNECTED.has(code);
}

/** Returns whether another upstream may be tried: nothing was done, or doing it twice does no harm. */
export function mayTryAnother(error: unknown, isRepeatable: boolean): boolean {
  if (isConnectFailure(error) || error instanceof UntouchedError || error instanceof NoRoomError) return true;
  return isRepeatable && isConnectionLoss(error);
}

/** Returns the client's error when the upstream failed before it answered. */
export function upstreamFailure(error: unknown, name: string): AppError {
  if (error instanceof AppError) return error;
  if (isConnectFailure(error)) {
    return new UnavailableError(`${name} cannot be reached at the moment`, {
      code: 'upstream_unreachable',
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  if (isConnectionLoss(error)) {
    const detail = `${name} broke off before it answered: the request may have been carried out`;
    return new UnavailableError(detail, { code: 'upstream_broke_off', cause: error, retryAfterSeconds: 1 });
  }
  return new BadGatewayError(`${name} did not answer as it should`, { code: 'upstream_answer_invalid', cause: error });
}

/** Returns whether the connection ended before the answer. Any other failure would happen again. */
function isConnectionLoss(error: unknown): boolean {
  if (error instanceof AppError || error instanceof ClientDisconnectedError) return false;
  const { code = '' } = (error ?? {}) as { code?: string };
  return !code.startsWith('HPE_') && code !== 'UND_ERR_HEADERS_OVERFLOW';
}
