import type { IncomingMessage } from 'node:http';
import { type ClosableResponse, reserveBodyBytes } from '../admission.ts';
import { readBody } from './body.ts';

/** Bytes in the buffers of a body that is written to disk as it arrives. */
const STREAM_BUFFERS_BYTES = 256 * 1024;

/**
 * Reads the body of a known caller into memory, if there is room for it. @throws UnavailableError, and like `readBody`
 */
export function readAdmittedBody(req: IncomingMessage, res: ClosableResponse, limitBytes: number): Promise<Buffer> {
  return readBody(req, limitBytes, (bytes) => reserveBodyBytes(res, bytes));
}

/**
 * Reads the body of a caller who is authenticated by its content. It is counted as it arrives: a caller that announces
 * much and sends nothing takes no room.
 */
export function readUnauthenticatedBody(
  req: IncomingMessage,
  res: ClosableResponse,
  limitBytes: number,
): Promise<Buffer> {
  return readBody(req, limitBytes, (bytes) => reserveBodyBytes(res, bytes, { isUnauthenticated: true }), {
    isAhead: false,
  });
}

/** Reserves room for a body of a known caller that is written to disk. @throws UnavailableError */
export function reserveStreamBuffers(res: ClosableResponse): void {
  reserveBodyBytes(res, STREAM_BUFFERS_BYTES);
}
