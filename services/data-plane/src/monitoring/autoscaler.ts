import type { DeploymentMetricValues } from '@runyard/deployments';
import {
  capacityOf,
  decideScale,
  type Recommendation,
  type ReplicaRole,
  type RoleLoad,
  scaleBounds,
} from '@runyard/deployments';
import type { Logger } from '@runyard/service-kit';
import type { RunningRevision } from '../drivers/driver.ts';
import type { ScaleStore } from './scale-store.ts';

const ROLES: readonly ReplicaRole[] = ['agent-api', 'run-worker'];

/** Scales each deployment's processes by load, within its bounds. */
export class Autoscaler {
  readonly #coolDownMs: number;
  readonly #scales: Pick<ScaleStore, 'store'> | undefined;
  readonly #logger: Logger;
  /** Earlier recommendations of each revision, dropped with it. */
  readonly #earlier = new WeakMap<RunningRevision, Map<ReplicaRole, Recommendation[]>>();

  /** @param options.scales keeps the counts over a restart */
  constructor(options: { coolDownMs: number; scales?: Pick<ScaleStore, 'store'>; logger: Logger }) {
    this.#coolDownMs = options.coolDownMs;
    this.#scales = options.scales;
    this.#logger = options.logger;
  }

  /** Scales the serving revision. Draining revisions end anyway. */
  apply(revisions: RunningRevision[], metrics: DeploymentMetricValues, nowMs: number): void {
    if (revisions.length !== 1) return; // During a roll-out two revisions share the load.
    const revision = revisions[0]!;
    if (!revision.isDraining && !revision.isScaledByCluster)
      for (const role of ROLES) this.#applyTo(revision, role, metrics, nowMs);
  }

  #applyTo(revision: RunningRevision, role: ReplicaRole, metrics: DeploymentMetricValues, nowMs: number): void {
    const { resources } = revision;
    const bounds = scaleBounds(resources, role);
    if (bounds.min === bounds.max) return;
    const earlier = this.#earlier.get(revision) ?? new Map<ReplicaRole, Recommendation[]>();
    this.#earlier.set(revision, earlier);
    const current = revision.countOf(role);
    const load = loadOf(metrics, role);
    const { count, recommendations } = decideScale({
      nowMs,
      current,
      bounds,
      load,
      capacity: capacityOf(resources, role),
      coolDownMs: this.#coolDownMs,
      earlier: earlier.get(role) ?? [],
    });
    earlier.set(role, recommendations);
    if (count === current) return;
    const { deploymentId, revisionId } = revision;
    this.#logger.info('deployment scaled', { deploymentId, revisionId, role, from: current, to: count, ...load });
    revision.scale(role, count);
    this.#scales?.store(deploymentId, role, count);
  }
}

function loadOf(metrics: DeploymentMetricValues, role: ReplicaRole): RoleLoad {
  return role === 'agent-api'
    ? { cpuCores: metrics.agent_api_cpu_cores, memoryBytes: metrics.agent_api_memory_bytes, pendingRuns: null }
    : {
        cpuCores: metrics.run_worker_cpu_cores,
        memoryBytes: metrics.run_worker_memory_bytes,
        pendingRuns: metrics.pending_runs,
      };
}
