import type { DeploymentType, ResourceSpec, SourceConfig } from '@runyard/contracts';

/** The two kinds of processes of a deployment; each scales separately. */
export type ReplicaRole = 'agent-api' | 'run-worker';

export interface ScaleBounds {
  min: number;
  max: number;
}

/** The default maximum for deployments for production. Those for development do not scale by default. */
const PRODUCTION_MAX_SCALE = 10;
const OF_PRODUCTION: readonly (DeploymentType | null | undefined)[] = ['prod', 'dedicated'];

/** Returns the requested resources with the defaults of the deployment's type. */
export function resourcesOf({ deployment_type: type, resource_spec }: SourceConfig): ResourceSpec {
  const resources = resource_spec ?? {};
  if (!OF_PRODUCTION.includes(type) || resources.max_scale != null) return resources;
  return { ...resources, max_scale: Math.max(PRODUCTION_MAX_SCALE, resources.min_scale ?? 0) };
}

/** Numbers of processes by role; a missing role means its minimum. */
export type Counts = Partial<Record<ReplicaRole, number>>;

/**
 * Returns the bounds of a role. Without a `max_scale` the number is always `min_scale`. Workers have the fields with
 * `queue_`, whose missing maximum is `max_scale`.
 */
export function scaleBounds(resources: ResourceSpec, role: ReplicaRole): ScaleBounds {
  const { min_scale, max_scale, queue_min_scale, queue_max_scale } = resources;
  // Types that go to zero elsewhere keep one process here.
  const min = Math.max(1, (role === 'agent-api' ? min_scale : queue_min_scale) ?? 1);
  const max = (role === 'agent-api' ? max_scale : (queue_max_scale ?? max_scale)) ?? min;
  return { min, max: Math.max(min, max) };
}

/** Returns the last count, within the current bounds. */
export function firstCount(resources: ResourceSpec, role: ReplicaRole, before: Counts): number {
  const { min, max } = scaleBounds(resources, role);
  return Math.min(Math.max(before[role] ?? min, min), max);
}
