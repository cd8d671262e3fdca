import type { Readable } from 'node:stream';
import { UnavailableError } from '@runyard/service-kit';

/**
 * The storage is away, or has too much to do: the same may work later. What it refuses, as for want of a right, is another error,
 * and an object that is not there is none.
 */
export class ObjectStorageUnavailableError extends UnavailableError {
  constructor(cause: unknown) {
    const { code, name } = cause as { code?: string; name?: string };
    super(`The object storage could not be reached (${code ?? name ?? 'unknown'})`, {
      cause,
      refusal: 'object_storage',
    });
  }
}

/** Files under paths (`a/b/c.tar.gz`), written once and read whole; a folder, or a bucket. Every call may find it unavailable. */
export interface ObjectStorage {
  /** Keeps a copy of a local file, whole or not at all; one that was under the path is replaced. */
  put(path: string, file: string, signal?: AbortSignal): Promise<void>;
  /** Null when there is none. What breaks while it is read is an error of the stream. */
  open(path: string, signal?: AbortSignal): Promise<Readable | null>;
  /** One that is not there is no error. */
  remove(path: string): Promise<void>;
  /** Every object below `prefix`, which ends with `/`. */
  removeBelow(prefix: string): Promise<void>;
  close(): void;
}

/**
 * Asks for an object, which need not be there, and reads nothing of it.
 *
 * @throws ObjectStorageUnavailableError while the storage is away; whatever else it says, it is there
 */
export async function checkAvailable(
  storage: Pick<ObjectStorage, 'open'>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    (await storage.open(path, signal))?.destroy();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ObjectStorageUnavailableError) throw error;
  }
}
