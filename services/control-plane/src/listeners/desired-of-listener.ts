import { createHash } from 'node:crypto';
import type {
  DeploymentSource,
  DeploymentStatus,
  DesiredDeployment,
  DesiredRevision,
  ListenerDesiredState,
  PlatformImage,
  RevisionStatus,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Deployment, Revision } from '../generated/client.ts';
import type { RegistryAddress } from '../registry/registry-address.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';
import type { SecretSets } from '../secrets/secret-set.ts';

/** Grows when more is told of the same rows than by the release before: what a data plane knows from that one is not all. */
const FORM = 2;

export interface DesiredParts {
  secrets: SecretSets;
  /** Of the platform, as it is now. */
  registry: Pick<RegistryAddress, 'host'>;
}

/** What the data plane of a listener is to run now. */
export async function desiredOfListener(
  queries: Queries,
  listenerId: string,
  { secrets, registry }: DesiredParts,
): Promise<ListenerDesiredState> {
  const deployments = await queries.deployment.findMany({
    where: { listenerId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const named = deployments.flatMap(({ activeRevisionId, latestRevisionId }) => [
    latestRevisionId,
    ...(activeRevisionId === null ? [] : [activeRevisionId]),
  ]);
  const revisions = await queries.revision.findMany({
    where: {
      // Of a deployment that is made meanwhile nothing is told yet.
      deploymentId: { in: deployments.map(({ id }) => id) },
      OR: [{ id: { in: named } }, { status: { notIn: [...TERMINAL] } }],
    },
    orderBy: { number: 'asc' },
  });
  return {
    resource_version: versionOf(deployments, revisions, registry),
    deployments: deployments.map((deployment) => ({
      ...viewOf(deployment),
      revisions: revisions
        .filter(({ deploymentId }) => deploymentId === deployment.id)
        .map((revision) => revisionOf(revision, { secrets, registry })),
    })),
  };
}

/** Of the rows as they are kept, in which secrets are sealed. */
function versionOf(deployments: Deployment[], revisions: Revision[], { host }: DesiredParts['registry']): string {
  const rows = [
    FORM,
    host,
    ...deployments.map(({ id, status, deleteRequestedAt, activeRevisionId, latestRevisionId }) => [
      id,
      status,
      deleteRequestedAt,
      activeRevisionId,
      latestRevisionId,
    ]),
    // The rest of a revision never changes, but for its image, which comes with a status.
    ...revisions.map(({ id, status }) => [id, status]),
  ];
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex').slice(0, 32);
}

function viewOf(row: Deployment): Omit<DesiredDeployment, 'revisions'> {
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

function revisionOf(row: Revision, { secrets, registry }: DesiredParts): DesiredRevision {
  return {
    id: row.id,
    number: row.number,
    status: row.status as RevisionStatus,
    source: row.source as DeploymentSource,
    source_config: row.sourceConfig as SourceConfig,
    source_revision_config: row.sourceRevisionConfig as SourceRevisionConfig,
    secrets: secrets.open(row.deploymentId, row.sealedSecrets),
    secret_references: row.secretReferences as unknown as SecretReference[],
    image: imageOf(row, registry),
  };
}

/** Of the platform's registry: what was pushed there, or made of the revision's project. */
function imageOf(
  { source, sourceRevisionConfig, image }: Revision,
  { host }: DesiredParts['registry'],
): PlatformImage | null {
  const { image_uri: uri } = sourceRevisionConfig as SourceRevisionConfig;
  if (source === ('internal_docker' satisfies DeploymentSource)) return uri == null ? null : { uri };
  const made = image as PlatformImage | null;
  // The registry may be elsewhere since it was made; within it, it stays where it is.
  return made && { ...made, uri: host + made.uri.slice(made.uri.indexOf('/')) };
}
