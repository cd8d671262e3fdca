import type { IncomingMessage } from 'node:http';
import { ClientDisconnectedError } from '../errors.ts';
import { writeNewFile } from '../write-new-file.ts';
import { payloadTooLargeError } from './body.ts';

/**
 * Writes the body of a request to a new file, which only this user may read. After an error the file may have a part of
 * it, and the request can still be answered.
 *
 * @returns the number of bytes
 * @throws PayloadTooLargeError as soon as there are more than `maxBytes`; ClientDisconnectedError; the signal's reason
 */
export async function receiveFile(
  req: IncomingMessage,
  file: string,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal },
): Promise<number> {
  let bytes = 0;
  async function* bounded(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw payloadTooLargeError(maxBytes);
      yield chunk;
    }
  }
  try {
    const body: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false });
    await writeNewFile(file, bounded(body), signal);
  } catch (error) {
    if (req.destroyed && !req.complete) throw new ClientDisconnectedError(error);
    throw error;
  }
  return bytes;
}
