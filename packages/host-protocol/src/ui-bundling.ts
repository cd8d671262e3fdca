/**
 * The request to the process that bundles, one line of JSON, and its answer, which V8 has serialized. Both go over one
 * socket, whose end is that of the answer: code of the project runs in the process, and its parent takes no more of it
 * than an answer may have.
 */

/** The file descriptor of the socket in the process that bundles. */
export const BUNDLER_FD = 3;

/** Bytes of the files of all agents together: servers keep them in memory. */
export const UI_BYTES_MAX = 32 * 1024 * 1024;

export interface BundleRequest {
  /** The project's folder. */
  directory: string;
  /** The file of each agent's components, by agent. */
  files: Record<string, string>;
  shared: string[];
}

/** A file for browsers. */
export interface UiFile {
  basename: string;
  contents: Uint8Array;
}

export interface BundleAnswer {
  /** The files of each agent whose components could be bundled. */
  bundles: [agent: string, files: UiFile[]][];
  /** One sentence for each of the others, for the author of the project. */
  faults: string[];
}
