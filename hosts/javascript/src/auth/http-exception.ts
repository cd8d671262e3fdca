import type { AuthRefusal } from '@runyard/host-protocol/graph-process';

/**
 * Returns what an `HTTPException` says; undefined for other errors. A project may have several copies of the SDK, so
 * that the class tells nothing: its `status` and `headers` do.
 */
export function refusalOf(error: unknown): AuthRefusal | undefined {
  if (!(error instanceof Error) || !('status' in error) || !('headers' in error)) return undefined;
  const { status, headers, message } = error;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599) return undefined;
  return { status, detail: message, headers: Object.fromEntries(new Headers(headers as HeadersInit)) };
}
