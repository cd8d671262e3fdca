import { createHash } from 'node:crypto';
import type {
  DeploymentSource,
  DeploymentStatus,
  DesiredDeployment,
  DesiredRevision,
  ListenerDesiredState,
  PlatformImage,
  RevisionStatus,
  Secret,
  SecretReference,
  SharedState,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import type { DeploymentTokens, DesiredHalt, SecretSets, StoredSourceConfig } from '@runyard/deployments';
import type { RegistryAddress } from '@runyard/image-registry';
import type { BuildProduct } from '../builds/build-store.ts';
import type { Queries } from '../database/database.ts';
import type { DeploymentKeys } from '../deployments/deployment-keys.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { budgetStore } from '../revisions/budgets/budget-store.ts';
import { haltStore } from '../revisions/halts/halt-store.ts';
import type { SharedStates } from './shared-states.ts';

/** Has to grow when a release tells more of the same rows: then versions that data planes know are outdated. */
const FORMAT_VERSION = 7;

export interface DesiredStateDependencies {
  secrets: SecretSets;
  tokens: Pick<DeploymentTokens, 'variableOf'>;
  keys: Pick<DeploymentKeys, 'variableOf'>;
  /** Keeps what the platform's own data planes share; undefined for those of listeners. */
  shared?: Pick<SharedStates, 'of'> | undefined;
  /** The platform's registry, with its current host. */
  registry: Pick<RegistryAddress, 'host'>;
}

/**
 * Returns what a data plane has to run now: the deployments that `where` selects.
 *
 * @param since the version that it knows; undefined is returned when that is the present one
 */
export async function readDesiredState(
  queries: Queries,
  where: Prisma.DeploymentWhereInput,
  { secrets, tokens, keys, registry, shared }: DesiredStateDependencies,
  since?: string,
): Promise<ListenerDesiredState | undefined> {
  const deployments = await queries.deployment.findMany({
    where,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const halts = await haltStore.unitedOf(queries, deployments);
  const budgets = await budgetStore.desiredOf(queries, deployments);
  const named = deployments.flatMap(({ activeRevisionId, latestRevisionId }) => [
    latestRevisionId,
    ...(activeRevisionId === null ? [] : [activeRevisionId]),
  ]);
  const revisions = await queries.revision.findMany({
    where: {
      // A deployment that is created after the first query is left out.
      deploymentId: { in: deployments.map(({ id }) => id) },
      OR: [{ id: { in: named } }, { status: { notIn: [...FINAL_REVISION_STATUSES] } }],
    },
    orderBy: { number: 'asc' },
  });
  const own = new Map<string, Secret[]>();
  for (const row of deployments) {
    const found = await keys.variableOf(queries, row);
    own.set(row.id, [tokens.variableOf(row.id), ...(found ? [found] : [])]);
  }
  const states = (await shared?.of(queries, deployments)) ?? new Map<string, SharedState>();
  const version = versionOf(deployments, revisions, registry, own, states);
  if (version === since) return undefined;
  return {
    resource_version: version,
    deployments: deployments.map((deployment) => ({
      ...viewOf(deployment),
      ...haltOf(deployment, halts.get(deployment.id)),
      ...budgets.get(deployment.id),
      budgets_version: Number(deployment.budgetsVersion),
      revisions: revisions
        .filter(({ deploymentId }) => deploymentId === deployment.id)
        .map((revision) => revisionOf(revision, own.get(deployment.id) ?? [], { secrets, registry })),
      ...(shared && { platform: states.get(deployment.id)! }),
    })),
  };
}

/**
 * Hashes columns of the rows as they are stored, without decrypting secrets.
 *
 * @param own the variables that the platform itself gives each deployment
 */
function versionOf(
  deployments: Deployment[],
  revisions: Revision[],
  { host }: DesiredStateDependencies['registry'],
  own: ReadonlyMap<string, readonly Secret[]>,
  states: ReadonlyMap<string, SharedState>,
): string {
  const rows = [
    FORMAT_VERSION,
    host,
    ...deployments.map((row) => [
      row.id,
      row.status,
      row.deleteRequestedAt,
      row.activeRevisionId,
      row.latestRevisionId,
      String(row.haltVersion),
      String(row.budgetsVersion),
      own.get(row.id),
      // Not the numbers of its processes, which the data plane itself reports.
      states.get(row.id)?.public_urls,
    ]),
    // The rest of a revision never changes.
    ...revisions.map(({ id, status, image }) => [id, status, image !== null]),
  ];
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex').slice(0, 32);
}

function viewOf(row: Deployment): Omit<DesiredDeployment, 'revisions' | 'budgets'> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    organization_id: row.organizationId,
    tenant_id: row.workspaceId,
    status: row.status as DeploymentStatus,
    is_deleted: row.deleteRequestedAt !== null,
    active_revision_id: row.activeRevisionId,
    latest_revision_id: row.latestRevisionId,
  };
}

function haltOf(
  { haltVersion }: Deployment,
  united: Omit<DesiredHalt, 'version'> | undefined,
): Pick<DesiredDeployment, 'halt' | 'halt_version'> {
  const { reason = null, cancelsQueued = false } = united ?? {};
  const halt = reason === null ? null : { reason, queued: cancelsQueued ? ('cancel' as const) : ('keep' as const) };
  return { halt, halt_version: Number(haltVersion) };
}

/** @param own the variables that the platform itself gives the deployment */
function revisionOf(
  row: Revision,
  own: readonly Secret[],
  { secrets, registry }: Pick<DesiredStateDependencies, 'secrets' | 'registry'>,
): DesiredRevision {
  return {
    id: row.id,
    number: row.number,
    status: row.status as RevisionStatus,
    source: row.source as DeploymentSource,
    source_config: describeForDataPlane(row.sourceConfig as StoredSourceConfig),
    source_revision_config: {
      // Without a ref, data planes of earlier releases would wait for one.
      ...(row.source === ('github' satisfies DeploymentSource) && { repo_ref: 'HEAD' }),
      ...(row.sourceRevisionConfig as SourceRevisionConfig),
    },
    secrets: [...secrets.decrypt(row.deploymentId, row.encryptedSecrets), ...own],
    secret_references: row.secretReferences as unknown as SecretReference[],
    image: imageOf(row, registry),
    ...buildOf(row),
  };
}

/**
 * Says in the words of the first release what data planes of earlier releases would refuse, and the whole desired state
 * with it.
 */
function describeForDataPlane(stored: StoredSourceConfig): SourceConfig {
  const { deployment_type: type, resource_spec: spec, custom_url_as_sent: _, ...config } = stored;
  return {
    ...config,
    ...(type !== undefined && { deployment_type: type === 'dev_free_zero' ? 'dev_zero' : type }),
    ...(spec && {
      resource_spec: Object.fromEntries(Object.entries(spec).map(([field, value]) => [field, value === 0 ? 1 : value])),
    }),
  };
}

/** Returns the image in the platform's registry that was pushed there, or built from the revision's project. */
function imageOf(
  { source, sourceRevisionConfig, image }: Revision,
  { host }: DesiredStateDependencies['registry'],
): PlatformImage | null {
  const { image_uri: uri } = sourceRevisionConfig as SourceRevisionConfig;
  if (source === ('internal_docker' satisfies DeploymentSource)) return uri == null ? null : { uri };
  const made = image as BuildProduct | null;
  if (made && 'key' in made) return null;
  // The registry's host may have changed since the image was built; its repository stays.
  return made && { ...made, uri: host + made.uri.slice(made.uri.indexOf('/')) };
}

function buildOf({ image }: Revision): Pick<DesiredRevision, 'build'> {
  const made = image as BuildProduct | null;
  return made && 'key' in made ? { build: made } : {};
}
