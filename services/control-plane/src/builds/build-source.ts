/** Provides the code of one revision to a build. */
export interface BuildSource {
  /** Equal for sources with the same content, byte for byte; different from other sources of the deployment. */
  key: string;
  /**
   * Checks that the code can be fetched. A source without this method finds out by fetching.
   *
   * @throws ObjectStorageUnavailableError while the storage that holds the code is unavailable
   */
  check?(signal: AbortSignal): Promise<void>;
  /**
   * Writes the code into an empty folder.
   *
   * @throws BuildError when the code cannot be fetched, and another attempt would not help;
   * ObjectStorageUnavailableError when the storage that holds it is unavailable
   */
  fetch(folder: string, context: { signal: AbortSignal; say: (line: string) => void }): Promise<void>;
}
