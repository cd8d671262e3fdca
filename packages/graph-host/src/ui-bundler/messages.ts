/** What the process that bundles is asked, and what it answers: one message each. */

export interface BundleRequest {
  /** The project's folder. */
  directory: string;
  /** By agent, the file of its components. */
  files: Record<string, string>;
  shared: string[];
}

/** A file for browsers. */
export interface UiFile {
  basename: string;
  contents: Uint8Array;
}

export type BundleAnswer =
  | { bundles: [agent: string, files: UiFile[]][] }
  /** One sentence each, for the author of the project. */
  | { faults: string[] };
