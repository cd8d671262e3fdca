import { type LogOwner, logSegments } from './log-segments.ts';

/** Limit of one file of a log. */
export const SEGMENT_LIMIT_BYTES = 2 * 1024 * 1024;
/** Limit of one log of one revision, over all its files. */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * Removes the oldest files of a log beyond its limit. The newest file is being written, counts as full and stays.
 *
 * @returns the paths of the removed files
 */
export async function keepWithinLimit(dataDir: string, owner: LogOwner): Promise<string[]> {
  const segments = await logSegments.list(dataDir, owner);
  const removed: string[] = [];
  let bytes = SEGMENT_LIMIT_BYTES;
  for (const segment of segments.slice(0, -1).reverse()) {
    bytes += (await logSegments.stats(segment))?.size ?? 0;
    if (bytes <= LOG_LIMIT_BYTES) continue;
    await logSegments.remove(segment);
    removed.push(segment.path);
  }
  return removed;
}
