import { type AppError, BadGatewayError, PayloadTooLargeError, UnavailableError } from '@runyard/service-kit';

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The upstream never got the request: it may go to another one. */
export function neverConnected(error: unknown): boolean {
  const { code, errors } = (error ?? {}) as { code?: string; errors?: unknown[] };
  if (errors) return errors.every(neverConnected);
  return code !== undefined && NOT_CONNECTED.has(code);
}

/** What the client is told when the upstream failed before it answered. */
export function upstreamFailure(error: unknown, name: string): AppError {
  if (error instanceof PayloadTooLargeError) return error;
  if (neverConnected(error)) {
    return new UnavailableError(`${name} cannot be reached at the moment`, { cause: error, retryAfterSeconds: 1 });
  }
  return new BadGatewayError(`${name} broke off before it answered`, { cause: error });
}
