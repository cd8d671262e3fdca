import type { Secret } from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import type { Builds } from '../builds/builds.ts';
import type { Semaphore } from '../compute/semaphore.ts';
import type { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import type { DeploymentRedis } from '../deployment-servers/deployment-redis.ts';
import type { DeploymentTokens } from '../deployments/deployment-tokens.ts';
import type { HostNames } from '../deployments/host-names.ts';
import type { DriversByArtifact } from '../drivers/drivers-by-artifact.ts';
import type { RolloutStore } from '../revisions/rollout-store.ts';
import type { ReferencedSecrets } from '../secrets/secret-references.ts';
import type { SecretSets } from '../secrets/secret-set.ts';

/** The dependencies of roll-outs. */
export interface RolloutDependencies {
  store: RolloutStore;
  driver: Pick<DriversByArtifact, 'start' | 'outlivesProcess'>;
  builds: Pick<Builds, 'isBuilt' | 'kindOf' | 'find' | 'build' | 'useFolder' | 'keepOnly'>;
  databases: DeploymentDatabases;
  redis: Pick<DeploymentRedis, 'ensure' | 'remove'>;
  secrets: SecretSets;
  /** Makes the variables by which deployments prove who they are; absent where they come with the secrets. */
  deploymentTokens?: Pick<DeploymentTokens, 'variableOf'>;
  /** Returns the variable with the keys for a deployment's data; absent where it comes with the secrets. */
  keysOf?(deploymentId: string): Promise<Secret | undefined>;
  hosts: Pick<HostNames, 'urlsOf'>;
  referenced: ReferencedSecrets;
  /** Encrypts the passwords of deployment databases. */
  cipher: Pick<Cipher, 'encrypt' | 'decrypt'>;
  startSemaphore: Semaphore;
  deployTimeoutMs: number;
  /** Removes all files of a deployment: logs, sources, builds. */
  removeFiles(deploymentId: string): Promise<void>;
  logger: Logger;
}
