import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { BuildError, projectLayer } from '@runyard/deployments';
import type { ImageRepository } from '@runyard/image-registry';

/** More notes in a log help nobody. */
const NOTES_MAX = 20;
/** It mostly crosses a fast network once: a higher level would save few bytes and cost seconds of every build. */
const LEVEL = { level: constants.Z_BEST_SPEED };

/**
 * Packs a project's folder as a gzipped archive while it is sent, so that it takes no room on the disk.
 *
 * @throws BuildError when a file cannot be read, or there are more bytes; any error of `send`
 */
export async function packArchive(
  directory: string,
  { bytesMax, say }: { bytesMax: number; say: (line: string) => void },
  send: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  await sendZipped(directory, say, (chunks) => limitBytes(chunks, bytesMax), send);
}

/**
 * Pushes a project's folder as a layer.
 *
 * @throws BuildError when a file cannot be read; RegistryUnavailableError; RegistryRefusedError
 */
export async function pushLayer(
  repository: ImageRepository,
  directory: string,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<{ digest: string; size: number; diff_id: string }> {
  const content = createHash('sha256');
  async function* read(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      content.update(chunk);
      yield chunk;
    }
  }
  let pushed = { digest: '', size: 0 };
  await sendZipped(directory, say, read, async (zipped) => {
    pushed = await repository.push(zipped, { signal });
  });
  return { ...pushed, diff_id: `sha256:${content.digest('hex')}` };
}

async function sendZipped(
  directory: string,
  say: (line: string) => void,
  through: (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>,
  send: (bytes: Readable) => Promise<void>,
): Promise<void> {
  const notes: string[] = [];
  const zipped = createGzip(LEVEL);
  const packing = pipeline(Readable.from(projectLayer(directory, (line) => notes.push(line))), through, zipped);
  const sending = send(zipped);
  // It packs no longer than it sends.
  sending.catch(() => zipped.destroy());
  const [packed, sent] = await Promise.allSettled([packing, sending]);
  if (packed.status === 'rejected' && packed.reason instanceof BuildError) throw packed.reason;
  if (sent.status === 'rejected') throw sent.reason;
  for (const line of notes.slice(0, NOTES_MAX)) say(line);
  if (notes.length > NOTES_MAX) say(`and ${notes.length - NOTES_MAX} more like these`);
}

/** @throws BuildError for more bytes */
async function* limitBytes(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BuildError(`The built project is larger than ${bytesMax} bytes`);
    yield chunk;
  }
}
