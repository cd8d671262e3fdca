import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { digestOfStream } from '@runyard/image-registry';
import type { ObjectRemovals, ObjectStorage } from '@runyard/object-storage';
import { writeNewFile } from '@runyard/service-kit/write-new-file';
import { v7 as uuidv7 } from 'uuid';
import type { RegistryError } from '../registry-error.ts';

/** A part of a blob, stored as one object. */
export interface BlobPart {
  key: string;
  size: number;
  sha256: string;
}

/** Returns the key prefix of a deployment's image objects. Other owners have names in place of the id. */
export const imagesPrefix = (owner: string) => `registry/${owner}/`;

export function keysOf(parts: readonly BlobPart[]): string[] {
  return parts.map(({ key }) => key);
}

/** The storage for parts of blobs, and what an upload needs. */
export interface PartStorage {
  objects: ObjectStorage;
  removals: Pick<ObjectRemovals, 'record' | 'abandon' | 'remove'>;
  /** Folder for bytes that are being received. */
  temporaryFolder: string;
}

/** The number of bytes that may come, and the error for more. */
export interface SizeLimit {
  bytes: number;
  refusal: RegistryError;
  /** Accepts bytes that came, step by step. @throws RegistryError when there is no room for them any more */
  accept(bytes: number): Promise<void>;
}

/** Bytes of one request that may come before they are accepted. */
const STEP_BYTES = 16 * 1024 * 1024;

/**
 * Writes a stream as one object. The object is removed unless it gets an owner within a day (`pendingObjects.keep`).
 *
 * @returns null for an empty stream
 * @throws RegistryError when the stream is longer than `bound`; then nothing is stored
 */
export async function writePart(
  { objects, removals, temporaryFolder }: PartStorage,
  owner: string,
  body: Readable,
  bound: SizeLimit,
  signal?: AbortSignal,
): Promise<BlobPart | null> {
  const id = uuidv7();
  const key = `${imagesPrefix(owner)}${id}`;
  const file = join(temporaryFolder, id);
  const hash = createHash('sha256');
  let size = 0;
  let accepted = 0;
  const accept = async () => {
    const bytes = size - accepted;
    accepted = size;
    if (bytes > 0) await bound.accept(bytes);
  };
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > bound.bytes) throw bound.refusal;
      if (size - accepted >= STEP_BYTES) await accept();
      hash.update(chunk);
      yield chunk;
    }
    await accept();
  }
  await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
  try {
    // The request must not be destroyed with its body, because an error is answered on the same connection.
    const bytes = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    await writeNewFile(file, counted(bytes));
    if (size === 0) return null;
    await removals.record(key);
    await objects.put(key, file, signal);
  } finally {
    await rm(file, { force: true });
  }
  return { key, size, sha256: hash.digest('hex') };
}

/** Reads a blob's bytes from number `first` to `last`, both inclusive. */
export function readBlob(
  objects: ObjectStorage,
  parts: readonly BlobPart[],
  { first, last }: { first: number; last: number },
): Readable {
  return Readable.from(bytesBetween(objects, parts, first, last + 1), { objectMode: false });
}

/** Opens only objects with bytes in the range. */
async function* bytesBetween(
  objects: ObjectStorage,
  parts: readonly BlobPart[],
  from: number,
  to: number,
): AsyncGenerator<Buffer> {
  let at = 0;
  for (const part of parts) {
    const end = at + part.size;
    if (at < to && end > from) {
      for await (const chunk of bytesOf(objects, [part])) {
        const bytes = chunk.subarray(Math.max(from - at, 0), to - at);
        at += chunk.length;
        if (bytes.length > 0) yield bytes;
        if (at >= to) return;
      }
    }
    at = end;
  }
}

/** Computes the digest of all parts together, with the algorithm of the expected digest. */
export async function digestOfParts(
  objects: ObjectStorage,
  parts: readonly BlobPart[],
  expected: string,
): Promise<string> {
  const [first] = parts;
  if (first && parts.length === 1 && expected.startsWith('sha256:')) return `sha256:${first.sha256}`;
  return digestOfStream(bytesOf(objects, parts), expected);
}

async function* bytesOf(objects: ObjectStorage, parts: readonly BlobPart[]): AsyncGenerator<Buffer> {
  for (const { key } of parts) {
    const bytes = await objects.open(key);
    if (!bytes) throw new Error(`the object ${key} of an image is gone`);
    yield* bytes as AsyncIterable<Buffer>;
  }
}
