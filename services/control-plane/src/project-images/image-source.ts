import type { Readable } from 'node:stream';

/** Where the parts of one image are read from, by one name. */
export interface ImageSource {
  /** @param version a tag or a digest @throws BuildFailure when it cannot be had */
  manifest(version: string, signal: AbortSignal): Promise<Buffer>;
  /** @throws BuildFailure when it cannot be had */
  blob(digest: string, signal: AbortSignal): Promise<Readable>;
}
