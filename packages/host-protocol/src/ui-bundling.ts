/** The request to the process that bundles, and its answer: one message each. */

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
