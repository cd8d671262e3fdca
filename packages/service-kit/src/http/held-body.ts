import type { IncomingMessage } from 'node:http';
import { holdBodyBytes, type Served } from './admission.ts';
import { readBody } from './body.ts';

/** What lies in the buffers of a body that is written to the disk as it comes. */
const STREAM_BUFFERS_BYTES = 256 * 1024;

/** Reads the body of a known caller into memory, if there is room for it. @throws UnavailableError, and as `readBody` does */
export function readHeldBody(req: IncomingMessage, res: Served, limitBytes: number): Promise<Buffer> {
  return readBody(req, limitBytes, (bytes) => holdBodyBytes(res, bytes));
}

/**
 * The same of a caller who is yet to be known by what the body says. Counted as it comes: who announces much and sends nothing
 * takes no room.
 */
export function readStrangersBody(req: IncomingMessage, res: Served, limitBytes: number): Promise<Buffer> {
  return readBody(req, limitBytes, (bytes) => holdBodyBytes(res, bytes, { isStranger: true }), { isAhead: false });
}

/** Room for a body of a known caller that goes to the disk. @throws UnavailableError */
export function holdStreamBuffers(res: Served): void {
  holdBodyBytes(res, STREAM_BUFFERS_BYTES);
}
