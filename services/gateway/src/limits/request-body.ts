import type { IncomingMessage, ServerResponse } from 'node:http';
import { payloadTooLargeError, readAdmittedBody } from '@runyard/service-kit';

/**
 * The body of a request. A small one is read whole, so that it travels in one piece and can be sent again if the first
 * upstream refuses the connection; any other is streamed, never held.
 */
export type RequestBody =
  | { kind: 'none' }
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'stream'; chunks: AsyncIterable<Uint8Array>; length: string | undefined; isStarted(): boolean };

const WHOLE_BYTES_MAX = 65_536;

/**
 * @param withinMs what the client may take to send it; undefined: as long as the connection may
 * @throws PayloadTooLargeError at once when the announced length is over the limit; a stream throws it when it gets
 * there. UnavailableError when the gateway holds too many bodies.
 */
export async function openRequestBody(
  req: IncomingMessage,
  res: ServerResponse,
  limitBytes: number,
  withinMs?: number,
): Promise<RequestBody> {
  const announced = req.headers['content-length'];
  const length = req.headers['transfer-encoding'] === undefined ? Number(announced ?? 0) : undefined;
  if (length === 0) return { kind: 'none' };
  if (length !== undefined && length > limitBytes) throw payloadTooLargeError(limitBytes);
  if (withinMs !== undefined) cutOffAfter(req, withinMs);
  if (length !== undefined && length <= WHOLE_BYTES_MAX)
    return { kind: 'whole', bytes: await readAdmittedBody(req, res, limitBytes) };
  let started = false;
  async function* countBytes(): AsyncIterable<Uint8Array> {
    started = true;
    let length = 0;
    // The connection must outlive the body, because the answer goes out on it.
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      length += (chunk as Buffer).length;
      if (length > limitBytes) throw payloadTooLargeError(limitBytes);
      yield chunk as Buffer;
    }
  }
  return { kind: 'stream', chunks: countBytes(), length: announced, isStarted: () => started };
}

/** Each body that does not come holds a place among the requests that are answered at once, here and behind. */
function cutOffAfter(req: IncomingMessage, ms: number): void {
  const timer = setTimeout(() => req.destroy(), ms);
  for (const event of ['end', 'close']) req.once(event, () => clearTimeout(timer));
}
