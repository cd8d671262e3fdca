import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BUILD_CONTENT_TYPE } from '@runyard/contracts';

/**
 * Sends an archive, and resolves when it is sent, or closed because its reader is gone. A connection that breaks tells
 * the reader that the archive is not whole.
 */
export async function sendArchive(archive: Readable, res: ServerResponse): Promise<void> {
  res.setHeader('content-type', BUILD_CONTENT_TYPE);
  await pipeline(archive, res).catch(() => undefined);
}
