import type { DeploymentSource, OrderedSource } from '@runyard/contracts';
import type { RolloutRevision } from '@runyard/deployments';

/** The code of one revision, as a builder gets it. */
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
   * Says how a builder fetches the code, given where this service gives the archive that was uploaded for the revision.
   *
   * @throws BuildError when it cannot be fetched, and another attempt would not help
   */
  describe(): Promise<(archiveUrl: string) => OrderedSource>;
}

/** Opens the build source of a revision, by its kind of source. Kinds without an entry are not built. */
export type BuildSources = Partial<Record<DeploymentSource, (revision: RolloutRevision) => Promise<BuildSource>>>;
