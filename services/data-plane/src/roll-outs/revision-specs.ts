import type { Secret, SecretReference, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { redisKeyPrefix } from '@runyard/contracts';
import type { Artifact, RolloutDeployment, RolloutRevision } from '@runyard/deployments';
import { isImageSource, openFolderOf, passwordPlace, resourcesOf } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import { type DatabaseAccess, DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import type { RevisionSpec } from '../drivers/driver.ts';
import type { RolloutDependencies } from './rollout-dependencies.ts';

/** Connects to a deployment's database and Redis as its own users. */
export interface StorageAccess extends DatabaseAccess {
  redisUri: string;
}

/** Creates the deployment's database at its first use, and its Redis user. */
export async function ensureStorage(
  dependencies: Pick<RolloutDependencies, 'store' | 'databases' | 'redis' | 'cipher'>,
  deployment: RolloutDeployment,
): Promise<StorageAccess> {
  const password = await ensureDatabase(dependencies, deployment);
  const { uri: redisUri } = await dependencies.redis.ensure(deployment.id, password);
  return { ...dependencies.databases.accessTo(deployment.id, password), redisUri };
}

/** Returns the access to the deployment's database; undefined when none was ever made. */
export function findDatabaseAccess(
  { databases, cipher }: { databases: Pick<DeploymentDatabases, 'accessTo'>; cipher: Pick<Cipher, 'decrypt'> },
  { id, encryptedDatabasePassword }: Pick<RolloutDeployment, 'id' | 'encryptedDatabasePassword'>,
): DatabaseAccess | undefined {
  if (encryptedDatabasePassword === null) return undefined;
  return databases.accessTo(id, cipher.decrypt(encryptedDatabasePassword, passwordPlace(id)));
}

/** Returns the password of the database's role. It is stored before the role gets it. */
async function ensureDatabase(
  { store, databases, cipher }: Pick<RolloutDependencies, 'store' | 'databases' | 'cipher'>,
  deployment: RolloutDeployment,
): Promise<string> {
  const { id, encryptedDatabasePassword, status } = deployment;
  const place = passwordPlace(id);
  if (encryptedDatabasePassword && status === 'READY') {
    return cipher.decrypt(encryptedDatabasePassword, place);
  }
  const encrypted =
    encryptedDatabasePassword ??
    (await store.storeDatabasePassword(id, cipher.encrypt(DeploymentDatabases.makePassword(), place)));
  const password = cipher.decrypt(encrypted, place);
  await databases.ensure(id, password);
  await store.markDatabaseReady(id);
  return password;
}

/**
 * Makes the specification for running a revision from its stored configuration and its project.
 *
 * @throws BadRequestError when the project cannot be used; RevisionStartError when a referenced secret cannot be read
 */
export async function makeSpec(
  dependencies: Pick<RolloutDependencies, 'store' | 'secrets' | 'publicUrlsOf' | 'referenced' | 'builds'>,
  revision: RolloutRevision,
  access: StorageAccess,
  { isFirst }: { isFirst: boolean },
): Promise<RevisionSpec> {
  const { deploymentId } = revision;
  const source = revision.sourceConfig as SourceConfig;
  const own = dependencies.secrets.decrypt(deploymentId, revision.encryptedSecrets);
  const deployment = await dependencies.store.find(deploymentId);
  const referenced = await readReferencedSecrets(dependencies, revision, deployment);
  const secrets = [...own, ...referenced];
  return {
    deploymentId,
    revisionId: revision.id,
    isFirst,
    namespace: source.listener_config?.k8s_namespace ?? undefined,
    publicUrls: deployment ? dependencies.publicUrlsOf(deployment) : [],
    artifact: await findArtifact(dependencies, revision),
    resources: resourcesOf(source),
    databaseUri: access.uri,
    redisUri: access.redisUri,
    redisKeyPrefix: redisKeyPrefix(deploymentId),
    secrets: Object.fromEntries(secrets.map(({ name, value }) => [name, value])),
  };
}

async function readReferencedSecrets(
  { referenced }: Pick<RolloutDependencies, 'referenced'>,
  revision: RolloutRevision,
  deployment: RolloutDeployment | null,
): Promise<Secret[]> {
  const references = revision.secretReferences as unknown as SecretReference[];
  return deployment && references.length > 0 ? referenced.read(deployment, references) : [];
}

async function findArtifact(
  { builds }: Pick<RolloutDependencies, 'builds'>,
  revision: RolloutRevision,
): Promise<Artifact> {
  if (isImageSource(revision.source)) {
    const { image_uri: imageUri } = revision.sourceRevisionConfig as SourceRevisionConfig;
    if (imageUri == null) throw new Error(`revision ${revision.id} has no image`);
    return { kind: 'image', imageUri };
  }
  const built = await builds.find(revision);
  if (built) return built;
  if (builds.isBuilt(revision.source)) throw new Error(`the build of revision ${revision.id} is gone`);
  return { kind: 'project', project: await openFolderOf(revision) };
}
