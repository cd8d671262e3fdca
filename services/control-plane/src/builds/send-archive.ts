import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { BUILD_CONTENT_TYPE } from '@runyard/contracts';

/**
 * Sends an archive, and resolves when it is sent, or closed because its reader is gone. A connection that breaks tells
 * the reader that the archive is not whole.
 */
export async function sendArchive(archive: Readable, res: ServerResponse): Promise<void> {
  res.setHeader('content-type', BUILD_CONTENT_TYPE);
  // `pipeline` listens seven times to the response, with which Node warns of a leak for each archive.
  await new Promise<void>((resolve) => {
    const end = () => {
      archive.destroy();
      resolve();
    };
    archive.on('error', () => res.destroy());
    if (res.closed || res.destroyed) return end();
    res.once('close', end);
    archive.pipe(res);
  });
}
