import type { HaltState } from '@runyard/contracts';
import { breadthOf, type HaltOutcome } from './desired-halt.ts';

const SCOPES = ['organization', 'workspace', 'deployment'] as const;
/** Deployments that one answer names. */
const LISTED_MAX = 100;

interface HaltInForce {
  workspaceId: string | null;
  deploymentId: string | null;
  reason: string;
  cancelsQueued: boolean;
  createdBy: string;
  createdAt: Date;
}

interface HaltedDeployment {
  id: string;
  name: string;
  listenerId: string | null;
  haltVersion: bigint;
  haltReachedVersion: bigint;
  /** The last report of its data plane; null: none. */
  outcome: HaltOutcome | null;
}

/** Returns what callers see of the halts in force, and how far the deployments are with them. */
export function haltStateOf(halts: readonly HaltInForce[], deployments: readonly HaltedDeployment[]): HaltState {
  const sum = (of: 'runs_cancelled' | 'runs_in_flight' | 'runs_queued') =>
    deployments.reduce((total, { outcome }) => total + (outcome?.[of] ?? 0), 0);
  const unreached = deployments.filter(({ haltVersion, haltReachedVersion }) => haltVersion !== haltReachedVersion);
  return {
    is_halted: halts.length > 0,
    halts: [...halts]
      .sort((one, other) => breadthOf(one) - breadthOf(other))
      .map((halt) => ({
        scope: SCOPES[breadthOf(halt)],
        reason: halt.reason,
        queued: halt.cancelsQueued ? 'cancel' : 'keep',
        created_by: halt.createdBy,
        created_at: halt.createdAt.toISOString(),
      })),
    deployments: deployments.length,
    reached: deployments.length - unreached.length,
    runs_cancelled: sum('runs_cancelled'),
    runs_in_flight: sum('runs_in_flight'),
    runs_queued: sum('runs_queued'),
    not_reached: unreached.slice(0, LISTED_MAX).map(({ id, name, listenerId, outcome }) => ({
      deployment_id: id,
      name,
      listener_id: listenerId,
      message: outcome?.message ?? null,
    })),
  };
}
