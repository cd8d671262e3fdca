import type { DeploymentStatus } from '@runyard/contracts';
import type { Deployment, Prisma } from '../generated/client.ts';

/**
 * Returns the status of a deployment for callers. The stored one is `READY` as soon as its database is; people and
 * scripts take that for a deployment that answers, which it does once a revision has been healthy.
 */
export function shownStatus({ status, activeRevisionId }: Deployment): DeploymentStatus {
  if (status === 'READY' && activeRevisionId === null) return 'AWAITING_DATABASE';
  return status as DeploymentStatus;
}

/** Selects the deployments that `shownStatus` shows with a status. */
export function filterShownStatus(status: DeploymentStatus): Prisma.DeploymentWhereInput {
  if (status === 'READY') return { status, activeRevisionId: { not: null } };
  if (status === 'AWAITING_DATABASE') return { OR: [{ status }, { status: 'READY', activeRevisionId: null }] };
  return { status };
}
