import { once } from 'node:events';
import type { Unpack } from 'tar';

/**
 * Writes the bytes of an archive to what unpacks it, as the last step of a `pipeline`, and resolves when all of it is on
 * the disk. `pipeline` itself waits for ever now and then: when the end of an archive comes late, its files are on the
 * disk by then, and tar says that it is done while it is being told of the end, before `pipeline` listens.
 *
 * @throws the error of what unpacks it; the signal's reason
 */
export async function writeTar(unpack: Unpack, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const unpacked = once(unpack, 'end', { signal });
  // It may fail between two chunks, and is awaited after the last one.
  unpacked.catch(() => undefined);
  for await (const chunk of chunks) {
    if (!unpack.write(chunk as Buffer)) await Promise.race([once(unpack, 'drain', { signal }), unpacked]);
  }
  unpack.end();
  await unpacked;
}
