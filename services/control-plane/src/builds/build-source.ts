/** Where a build gets the code of a revision from. */
export interface BuildSource {
  /** The same for sources that hold the same, byte for byte; different for others of the deployment. */
  key: string;
  /** Left out: only fetching tells. @throws ObjectStorageUnavailableError while what the code lies in is away */
  check?(signal: AbortSignal): Promise<void>;
  /**
   * Lays the code out in an empty folder.
   *
   * @throws BuildFailure when it cannot be had, and trying again would not help; ObjectStorageUnavailableError when what it
   *   lies in is away
   */
  fetch(folder: string, context: { signal: AbortSignal; say: (line: string) => void }): Promise<void>;
}
