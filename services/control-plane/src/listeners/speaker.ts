import type { DataPlaneLease, DataPlaneLeaseRequest } from '@runyard/contracts';
import { ConflictError } from '@runyard/service-kit';
import type { Prisma } from '../generated/client.ts';
import { deploymentNotFound } from '../revisions/deployment-errors.ts';

/** The work for a data plane: `own` selects its deployments. */
export type OwnedWork<T> = (
  transaction: Prisma.TransactionClient,
  own: Readonly<Prisma.DeploymentWhereInput>,
) => Promise<T>;

/**
 * The one that a data plane speaks for: the listener of a workspace, or, as one of the platform's own, itself. One
 * connection of one process speaks at a time. Each connection has an epoch, higher than all before; requests with a lower one change
 * nothing. Every accepted request also renews the lease.
 */
export interface Speaker {
  /** True for data planes of the platform itself, which share what others keep themselves. */
  isPlatform: boolean;
  /** The name of the signal that tells of changes. */
  signal: string;
  /** Milliseconds after which somebody who waits for changes has to look again without a signal. */
  lookMs: number;
  /** @throws NotFoundError */
  require(): Promise<void>;
  /** @throws NotFoundError; ConflictError while another data plane holds the lease */
  take(request: DataPlaneLeaseRequest): Promise<DataPlaneLease>;
  /** Ends the lease before its time. */
  release(epoch: number): Promise<void>;
  /** Takes up deployments that nobody holds. */
  takeUp(transaction: Prisma.TransactionClient): Promise<void>;
  /**
   * Runs the work for the data plane of this epoch, which keeps its lease until the transaction ends.
   *
   * @throws NotFoundError; ConflictError when the epoch is not the latest
   */
  runAsOwner<T>(epoch: number, work: OwnedWork<T>): Promise<T>;
}

/** One deployment of a data plane. */
export type OwnDeployment = Prisma.DeploymentWhereInput & { id: string };

/** @throws NotFoundError when it is not one of the data plane's */
export async function requireOwn(transaction: Prisma.TransactionClient, where: OwnDeployment): Promise<void> {
  if (!(await transaction.deployment.findFirst({ where, select: { id: true } }))) throw deploymentNotFound(where.id);
}

export function leaseConflict(id: string): ConflictError {
  return new ConflictError(`Another data plane holds the lease of listener ${id}.`, { code: 'listener_lease_held' });
}
