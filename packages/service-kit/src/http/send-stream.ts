import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * Sends bytes as the body of an answer, and resolves when they are sent, or the answer is closed because its reader is
 * gone. A connection that breaks tells the reader that the body is not whole.
 */
export async function sendStream(stream: Readable, res: ServerResponse): Promise<void> {
  // `pipeline` listens seven times to the response, with which Node warns of a leak for each stream.
  await new Promise<void>((resolve) => {
    const end = () => {
      stream.destroy();
      resolve();
    };
    stream.on('error', () => res.destroy());
    if (res.closed || res.destroyed) return end();
    res.once('close', end);
    stream.pipe(res);
  });
}
