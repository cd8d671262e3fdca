/** Where a build gets the code of a revision from. */
export interface BuildSource {
  /** The same for sources that hold the same, byte for byte; different for others of the deployment. */
  key: string;
  /**
   * Lays the code out in an empty folder.
   *
   * @throws BuildFailure when it cannot be had, and trying again would not help
   */
  fetch(folder: string, context: { signal: AbortSignal; say: (line: string) => void }): Promise<void>;
}
