import type { Readable } from 'node:stream';

/** Files under paths (`a/b/c.tar.gz`), written once and read whole; a folder, or a bucket. */
export interface ObjectStorage {
  /** Keeps a copy of a local file, whole or not at all; one that was under the path is replaced. */
  put(path: string, file: string): Promise<void>;
  /** Null when there is none. What breaks while it is read is an error of the stream. */
  open(path: string): Promise<Readable | null>;
  /** One that is not there is no error. */
  remove(path: string): Promise<void>;
  /** Every object below `prefix`, which ends with `/`. */
  removeBelow(prefix: string): Promise<void>;
  close(): void;
}
