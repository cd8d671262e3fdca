import type { IncomingMessage, ServerResponse } from 'node:http';
import { PayloadTooLargeError } from '../errors.ts';
import { type Reply, send } from './reply.ts';

export const BODY_LIMIT_BYTES = 314_572_800;

/**
 * Reads a whole body. `hold` is told of what is kept, ahead of it where a length is announced; what it throws is thrown.
 *
 * @param isAhead false: `hold` is told of each piece as it comes, whatever is announced
 * @throws PayloadTooLargeError as soon as the limit is passed, also when no length was announced; ClientGoneError.
 */
export async function readBody(
  req: IncomingMessage,
  limitBytes: number,
  hold: (bytes: number) => void = () => undefined,
  { isAhead = true } = {},
): Promise<Buffer> {
  assertTakable(req, limitBytes);
  const chunks: Buffer[] = [];
  const announced = isAhead ? announcedBytes(req) : 0;
  if (announced > 0) hold(announced);
  await takeBody(req, limitBytes, (chunk) => {
    if (announced === 0) hold(chunk.length);
    chunks.push(chunk);
  });
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/**
 * Hands a body on piece by piece and keeps nothing of it. What `take` throws is thrown.
 *
 * @throws PayloadTooLargeError, ClientGoneError, both as `readBody` does
 */
export async function takeBody(req: IncomingMessage, limitBytes: number, take: (chunk: Buffer) => void): Promise<void> {
  assertTakable(req, limitBytes);
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
        if (length > limitBytes) throw tooLarge(limitBytes);
        take(chunk);
      } catch (error) {
        req.pause();
        settle(error as Error);
      }
    };
    const onEnd = () => settle();
    const onError = (error: Error) => settle(new ClientGoneError(error));
    const onClose = () => settle(new ClientGoneError());
    req.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

function assertTakable(req: IncomingMessage, limitBytes: number): void {
  // It says so once, and may have said it already.
  if (req.destroyed) throw new ClientGoneError();
  if (announcedBytes(req) > limitBytes) throw tooLarge(limitBytes);
}

const announcedBytes = (req: IncomingMessage) => Number(req.headers['content-length'] ?? 0);

/** The client hung up: there is nobody to answer and nothing to report. */
export class ClientGoneError extends Error {
  constructor(cause?: unknown) {
    super('the client closed the connection', cause === undefined ? undefined : { cause });
    this.name = 'ClientGoneError';
  }
}

export function tooLarge(limitBytes: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`Request body is larger than ${limitBytes} bytes`);
}

const LINGER_MS = 5_000;

/**
 * Answers a request whose body may not have been read, and never will be. Closing at once would make a client that is
 * still sending see a broken connection in place of the answer, so what it sends is thrown away for a few seconds first.
 */
export function sendWithoutReading(req: IncomingMessage, res: ServerResponse, reply: Reply): void {
  if (req.complete || req.destroyed) {
    send(res, reply);
    return;
  }
  res.setHeader('connection', 'close');
  send(res, reply, { end: false });
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.once('end', end).once('close', end).once('error', end);
  req.resume();
}
