import type {
  Artifact,
  ReferencedSecrets,
  RolloutDeployment,
  RolloutRevision,
  SecretSets,
  Semaphore,
} from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import type { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import type { DeploymentRedis } from '../deployment-servers/deployment-redis.ts';
import type { DriversByArtifact } from '../drivers/drivers-by-artifact.ts';
import type { RolloutStore } from './rollout-store.ts';

/** Provides what revisions run as. */
export interface RolloutBuilds {
  /** Returns whether revisions of this source have to be built before they run. */
  isBuilt(source: string): boolean;
  /** Returns the kind of artifact that the revision runs as. */
  kindOf(revision: RolloutRevision): Artifact['kind'];
  /** Returns the artifact of the revision; null when it has to be built (again, or on this machine). */
  find(revision: RolloutRevision): Promise<Artifact | null>;
  /**
   * Resolves when the revision is built.
   *
   * @throws BuildError; RevisionEndedError when it will never be built; the signal's reason when the signal aborts
   */
  build(revision: RolloutRevision, signal: AbortSignal): Promise<void>;
  /** Removes the deployment's builds except those of these revisions. */
  keepOnly(deploymentId: string, revisions: RolloutRevision[]): Promise<void>;
}

/** The dependencies of roll-outs. */
export interface RolloutDependencies {
  store: RolloutStore;
  driver: Pick<DriversByArtifact, 'start' | 'outlivesProcess'>;
  builds: RolloutBuilds;
  databases: DeploymentDatabases;
  redis: Pick<DeploymentRedis, 'ensure' | 'remove'>;
  secrets: SecretSets;
  /** Returns all URLs by which clients reach a deployment. */
  publicUrlsOf(deployment: RolloutDeployment): readonly string[];
  referenced: ReferencedSecrets;
  /** Encrypts the passwords of deployment databases. */
  cipher: Pick<Cipher, 'encrypt' | 'decrypt'>;
  startSemaphore: Semaphore;
  deployTimeoutMs: number;
  /** Removes all files of a deployment: logs, sources, builds. */
  removeFiles(deploymentId: string): Promise<void>;
  logger: Logger;
}
