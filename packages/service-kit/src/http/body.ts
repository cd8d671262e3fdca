import type { IncomingMessage } from 'node:http';
import { ClientDisconnectedError, PayloadTooLargeError } from '../errors.ts';
import { BodyPieces } from './body-pieces.ts';

export const BODY_LIMIT_BYTES = 314_572_800;

/**
 * Reads a whole body. `hold` is called with the bytes that are kept, in advance when a length is announced; its errors
 * pass through.
 *
 * @param isAhead false: `hold` is called with each chunk as it comes, whatever is announced
 * @throws PayloadTooLargeError as soon as the limit is exceeded, even without an announced length; ClientDisconnectedError.
 */
export async function readBody(
  req: IncomingMessage,
  limitBytes: number,
  hold: (bytes: number) => void = () => undefined,
  { isAhead = true } = {},
): Promise<Buffer> {
  assertReadable(req, limitBytes);
  const pieces = new BodyPieces();
  const announced = isAhead ? announcedBytes(req) : 0;
  if (announced > 0) hold(announced);
  await streamBody(req, limitBytes, (chunk) => {
    if (announced === 0) hold(chunk.length);
    pieces.add(chunk);
  });
  return pieces.join();
}

/**
 * Passes a body on in chunks and keeps nothing of it. Errors of `take` pass through.
 *
 * @throws PayloadTooLargeError, ClientDisconnectedError, both like `readBody`
 */
export async function streamBody(
  req: IncomingMessage,
  limitBytes: number,
  take: (chunk: Buffer) => void,
): Promise<void> {
  assertReadable(req, limitBytes);
  return new Promise((resolve, reject) => {
    let length = 0;
    const settle = (error?: Error) => {
      req.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > limitBytes) throw payloadTooLargeError(limitBytes);
        take(chunk);
      } catch (error) {
        req.pause();
        settle(error as Error);
      }
    };
    const onEnd = () => settle();
    const onError = (error: Error) => settle(new ClientDisconnectedError(error));
    const onClose = () => settle(new ClientDisconnectedError());
    req.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

function assertReadable(req: IncomingMessage, limitBytes: number): void {
  // The request emits its end once, and may have done so already.
  if (req.destroyed) throw new ClientDisconnectedError();
  if (announcedBytes(req) > limitBytes) throw payloadTooLargeError(limitBytes);
}

const announcedBytes = (req: IncomingMessage) => Number(req.headers['content-length'] ?? 0);

export function payloadTooLargeError(limitBytes: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`Request body is larger than ${limitBytes} bytes`, { code: 'body_too_large' });
}
