import type { Readable } from 'node:stream';

/** Reads the parts of one image. */
export interface ImageSource {
  /** @param version a tag or a digest @throws BuildError when the manifest cannot be read */
  manifest(version: string, signal: AbortSignal): Promise<Buffer>;
  /** @throws BuildError when the blob cannot be read */
  blob(digest: string, signal: AbortSignal): Promise<Readable>;
}
