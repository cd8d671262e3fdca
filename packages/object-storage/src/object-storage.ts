import type { Readable } from 'node:stream';
import { UnavailableError } from '@runyard/service-kit';

/**
 * The storage is unavailable or overloaded: the same call may succeed later. A refusal, such as a missing permission,
 * is another error, and a missing object is none.
 */
export class ObjectStorageUnavailableError extends UnavailableError {
  constructor(cause: unknown) {
    const { code, name } = cause as { code?: string; name?: string };
    super(`The object storage could not be reached (${code ?? name ?? 'unknown'})`, {
      code: 'object_storage_unavailable',
      cause,
    });
  }
}

/**
 * Stores files under paths (`a/b/c.tar.gz`) that are written once and read whole, in a folder or a bucket. Every call
 * may throw ObjectStorageUnavailableError.
 */
export interface ObjectStorage {
  /**
   * Stores a local file, whole or not at all. Replaces an existing object. The file may be moved: the caller has no more
   * use for it, and removes what is left.
   */
  put(path: string, file: string, signal?: AbortSignal): Promise<void>;
  /** Returns null when the object does not exist. Failures during reading are errors of the stream. */
  open(path: string, signal?: AbortSignal): Promise<Readable | null>;
  /** Returns whether an object exists, without reading it. */
  exists(path: string, signal?: AbortSignal): Promise<boolean>;
  /** Removes an object; a missing one is no error. */
  remove(path: string): Promise<void>;
  /** Removes every object below `prefix`, which ends with `/`. */
  removeBelow(prefix: string): Promise<void>;
  close(): void;
}

/**
 * Checks the storage by asking for an object, which need not exist.
 *
 * @throws ObjectStorageUnavailableError while the storage is unavailable; any other answer means that it is available
 */
export async function checkAvailable(
  storage: Pick<ObjectStorage, 'exists'>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await storage.exists(path, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ObjectStorageUnavailableError) throw error;
  }
}
