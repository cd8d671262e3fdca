import { type DesiredHalt, type HaltOutcome, uniteHalts } from '@runyard/deployments';
import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import type { Deployment, Halt, Prisma } from '../../generated/client.ts';

/** The organization, the workspace or the deployment that is halted. */
export type HaltTarget = { organizationId: string; workspaceId: string | null; deploymentId: string | null };

type Placed = Pick<Deployment, 'id' | 'organizationId' | 'workspaceId'>;

/** The name of the lock under which halts change, and deployments are created in their scope. */
export const haltLock = (organizationId: string) => `halts of ${organizationId}`;

/** Stores halts, and how far deployments are with them. */
export const haltStore = {
  /** Returns the halts that concern the target: its own and those of what it is in. */
  async inForce(queries: Queries, target: HaltTarget): Promise<Halt[]> {
    const { organizationId, workspaceId, deploymentId } = target;
    const scopes = [organizationId, workspaceId, deploymentId].filter((id) => id !== null);
    return queries.halt.findMany({ where: { organizationId, scopeId: { in: scopes } } });
  },

  /** Returns the union of halts of each of these deployments, in one query. */
  async unitedOf(queries: Queries, deployments: readonly Placed[]): Promise<Map<string, Omit<DesiredHalt, 'version'>>> {
    const scopes = deployments.flatMap(({ id, organizationId, workspaceId }) => [id, organizationId, workspaceId]);
    const halts = await queries.halt.findMany({ where: { scopeId: { in: [...new Set(scopes)] } } });
    return new Map(
      deployments.map(({ id, organizationId, workspaceId }) => [
        id,
        uniteHalts(halts.filter(({ scopeId }) => [id, organizationId, workspaceId].includes(scopeId))),
      ]),
    );
  },

  /** Stores what a data plane reports, unless the halt has changed since. */
  async record(queries: Queries, where: Prisma.DeploymentWhereInput, outcome: HaltOutcome): Promise<void> {
    const { version, is_reached, ...progress } = outcome;
    await queries.deployment.updateMany({
      where: { ...where, haltVersion: BigInt(version) },
      data: { haltProgress: progress, ...(is_reached && { haltReachedVersion: BigInt(version) }) },
    });
  },

  /** Removes the halt of a deleted workspace. */
  async removeWorkspace(queries: Queries, { organizationId, workspaceId }: Tenant): Promise<void> {
    await queries.halt.deleteMany({ where: { organizationId, workspaceId } });
  },
};

/** Selects the deployments that a halt of the target concerns. */
export function deploymentsOf({ organizationId, workspaceId, deploymentId }: HaltTarget): Prisma.DeploymentWhereInput {
  return {
    organizationId,
    deleteRequestedAt: null,
    ...(workspaceId !== null && { workspaceId }),
    ...(deploymentId !== null && { id: deploymentId }),
  };
}
