import type { HaltReport } from '@runyard/contracts';

/** The union of the halts in force, for one deployment. */
export interface DesiredHalt {
  /** Grows with every change. */
  version: number;
  /** Shown to clients that are refused; null: the deployment is not halted. */
  reason: string | null;
  /** True when runs that wait are cancelled too. */
  cancelsQueued: boolean;
}

/** The progress that a deployment's own database has of its halt. */
export interface HaltProgress {
  runsCancelled: number;
  runsInFlight: number;
  runsQueued: number;
}

/** How far a halt or a resume is at a deployment. */
export type HaltOutcome = Omit<HaltReport, 'epoch'>;

interface HaltRow {
  workspaceId: string | null;
  deploymentId: string | null;
  reason: string;
  cancelsQueued: boolean;
}

/** Unites the halts in force: clients see the reason of the widest, and waiting runs are cancelled if one of them says so. */
export function uniteHalts(halts: readonly HaltRow[]): Omit<DesiredHalt, 'version'> {
  const [widest] = [...halts].sort((one, other) => breadthOf(one) - breadthOf(other));
  return { reason: widest?.reason ?? null, cancelsQueued: halts.some(({ cancelsQueued }) => cancelsQueued) };
}

/** Returns 0 for an organization, 1 for a workspace and 2 for a deployment. */
export function breadthOf({ workspaceId, deploymentId }: Pick<HaltRow, 'workspaceId' | 'deploymentId'>): 0 | 1 | 2 {
  if (workspaceId === null) return 0;
  return deploymentId === null ? 1 : 2;
}
