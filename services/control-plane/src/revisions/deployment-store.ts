import type { Agent, DeploymentStatus, DeploymentType, RevisionStatus } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { NotFoundError, type Tenant } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { deploymentAddresses } from './deployment-addresses.ts';
import { deploymentNotFound } from './deployment-errors.ts';
import { filterShownStatus } from './shown-status.ts';

/** Prisma's offsets have 32 bits. */
const OFFSET_MAX = 2 ** 31 - 1;

export interface DeploymentFilter {
  name?: string;
  nameContains?: string;
  status?: DeploymentStatus;
  deploymentType?: DeploymentType;
  ids?: string[];
  imageVersion?: string;
  /** True when a listener runs it. */
  isRemote?: boolean;
  /** Deployments with certain tags. */
  taggedIds?: string[] | undefined;
  agentId?: string;
  agentEnvironment?: string;
}

export interface RevisionFilter {
  statuses?: RevisionStatus[] | undefined;
  /** True when a listener runs it. */
  isRemote?: boolean | undefined;
}

export interface PageRequest {
  limit: number;
  offset: number;
}

/**
 * Queries deployments and revisions for callers, always within one workspace: what is in another one is not found.
 */
export const deploymentStore = {
  /** @throws NotFoundError */
  async get(queries: Queries, tenant: Tenant, id: string): Promise<Deployment> {
    const row = await queries.deployment.findFirst({ where: { ...tenant, id } });
    if (row) return row;
    throw deploymentNotFound(id);
  },

  /**
   * Returns the deployment and locks its row until the transaction ends, so that decisions about it stay valid.
   *
   * @throws NotFoundError
   */
  async getForChange(transaction: Prisma.TransactionClient, tenant: Tenant, id: string): Promise<Deployment> {
    await transaction.$queryRaw`
      SELECT 1 FROM deployment
      WHERE id = ${id}::uuid AND workspace_id = ${tenant.workspaceId}::uuid
        AND organization_id = ${tenant.organizationId}::uuid
      FOR UPDATE`;
    return deploymentStore.get(transaction, tenant, id);
  },

  /** Lists the newest first. */
  list(queries: Queries, tenant: Tenant, filter: DeploymentFilter, page: PageRequest): Promise<Deployment[]> {
    return queries.deployment.findMany({
      where: whereOf(tenant, filter),
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: page.limit,
      skip: checkOffset(page),
    });
  },

  /** Returns the ids of all that match. */
  async listIds(queries: Queries, tenant: Tenant, filter: DeploymentFilter): Promise<string[]> {
    const rows = await queries.deployment.findMany({ where: whereOf(tenant, filter), select: { id: true } });
    return rows.map(({ id }) => id);
  },

  async isNameTaken(queries: Queries, tenant: Tenant, name: string): Promise<boolean> {
    const where = { ...tenant, name, deleteRequestedAt: null };
    return (await queries.deployment.findFirst({ where, select: { id: true } })) !== null;
  },

  /** Returns whether any deployment has the slug, or another workspace ever had it. */
  async isSlugTaken(queries: Queries, { workspaceId }: Tenant, slug: string): Promise<boolean> {
    if ((await queries.deployment.findUnique({ where: { slug }, select: { id: true } })) !== null) return true;
    return deploymentAddresses.isKeptFromWorkspace(queries, workspaceId, { kind: 'slug', name: slug });
  },

  /** Returns whether a deployment of any workspace has that host. */
  async isHostTaken(queries: Queries, host: string, { id }: { id: string }): Promise<boolean> {
    return (
      (await queries.deployment.findFirst({ where: { customHost: host, id: { not: id } }, select: { id: true } })) !==
      null
    );
  },

  async isAgentDeployed(queries: Queries, tenant: Tenant, agent: Agent): Promise<boolean> {
    const { agent_id: agentId, environment: agentEnvironment } = agent;
    const where = { ...tenant, agentId, agentEnvironment, deleteRequestedAt: null };
    return (await queries.deployment.findFirst({ where, select: { id: true } })) !== null;
  },

  /** Lists the newest first. */
  listRevisions(
    queries: Queries,
    tenant: Tenant,
    deploymentId: string,
    { statuses, isRemote }: RevisionFilter,
    page: PageRequest,
  ): Promise<Revision[]> {
    return queries.revision.findMany({
      where: {
        deploymentId,
        deployment: { ...tenant, ...(isRemote === undefined ? {} : filterRemote(isRemote)) },
        ...(statuses ? { status: { in: statuses } } : {}),
      },
      orderBy: { number: 'desc' },
      take: page.limit,
      skip: checkOffset(page),
    });
  },

  /** @throws NotFoundError */
  async getRevision(queries: Queries, tenant: Tenant, deploymentId: string, id: string): Promise<Revision> {
    const row = await queries.revision.findFirst({ where: { id, deploymentId, deployment: tenant } });
    if (row) return row;
    throw new NotFoundError(`Revision ID ${id} not found.`);
  },
};

function whereOf(tenant: Tenant, filter: DeploymentFilter): Prisma.DeploymentWhereInput {
  return {
    ...tenant,
    AND: [
      filter.name === undefined ? {} : { name: toSqlText(filter.name) },
      filter.nameContains
        ? { name: { contains: escapeLikePattern(toSqlText(filter.nameContains)), mode: 'insensitive' } }
        : {},
      filter.status ? filterShownStatus(filter.status) : {},
      filter.deploymentType ? filterType(filter.deploymentType) : {},
      filter.ids ? { id: { in: filter.ids } } : {},
      filter.imageVersion === undefined ? {} : { imageVersion: toSqlText(filter.imageVersion) },
      filter.isRemote === undefined ? {} : filterRemote(filter.isRemote),
      filter.taggedIds ? { id: { in: filter.taggedIds } } : {},
      filter.agentId === undefined ? {} : { agentId: toSqlText(filter.agentId) },
      filter.agentEnvironment === undefined ? {} : { agentEnvironment: toSqlText(filter.agentEnvironment) },
    ],
  };
}

function checkOffset(page: PageRequest): number {
  return Math.min(page.offset, OFFSET_MAX);
}

/** Selects deployments that a listener runs or, when false, the platform itself. */
function filterRemote(isRemote: boolean): Prisma.DeploymentWhereInput {
  return { listenerId: isRemote ? { not: null } : null };
}

function filterType(type: DeploymentType): Prisma.DeploymentWhereInput {
  return { sourceConfig: { path: ['deployment_type'], equals: type } };
}

/** Escapes the wildcards of LIKE, which Prisma leaves as they are. */
function escapeLikePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
