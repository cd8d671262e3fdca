import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/**
 * Writes bytes to a new file, which only this user may read. The file is there before the first byte is asked for, so
 * that whoever removes it after an error leaves nothing behind.
 *
 * @throws the error of the source; the signal's reason; Error for a file that exists
 */
export async function writeNewFile(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  await pipeline(bytes, file.createWriteStream(), signal ? { signal } : {});
}
