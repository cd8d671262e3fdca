import type { Counts, ReplicaRole } from '@runyard/deployments';

/** Keeps the last process counts of deployments for the next start, after a restart or with a new revision. */
export interface ScaleStore {
  /** Never waits and never throws: a count that is lost is decided again. */
  store(deploymentId: string, role: ReplicaRole, count: number): void;
  /** Returns the counts of the roles that were scaled before. */
  find(deploymentId: string): Promise<Counts>;
}
