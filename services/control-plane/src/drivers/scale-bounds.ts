import type { DeploymentType, ResourceSpec, SourceConfig } from '@runyard/contracts';

/** The two kinds of processes of a deployment; each is scaled by itself. */
export type Role = 'agent-api' | 'run-worker';

export interface ScaleBounds {
  min: number;
  max: number;
}

/** What deployments for production may grow to when nothing is said; those for development stay as they are. */
const PRODUCTION_MAX_SCALE = 10;
const OF_PRODUCTION: readonly (DeploymentType | null | undefined)[] = ['prod', 'dedicated'];

/** What a deployment asked for, and what its type gives it beside that. */
export function resourcesOf({ deployment_type: type, resource_spec }: SourceConfig): ResourceSpec {
  const resources = resource_spec ?? {};
  if (!OF_PRODUCTION.includes(type) || resources.max_scale != null) return resources;
  return { ...resources, max_scale: Math.max(PRODUCTION_MAX_SCALE, resources.min_scale ?? 0) };
}

/** How many processes there are of roles; of a role that is left out, the least. */
export type Counts = Partial<Record<Role, number>>;

/** Without a `max_scale` there are always `min_scale`. For workers those with `queue_`, where `max_scale` stands in for theirs. */
export function scaleBounds(resources: ResourceSpec, role: Role): ScaleBounds {
  const { min_scale, max_scale, queue_min_scale, queue_max_scale } = resources;
  const min = (role === 'agent-api' ? min_scale : queue_min_scale) ?? 1;
  const max = (role === 'agent-api' ? max_scale : (queue_max_scale ?? max_scale)) ?? min;
  return { min, max: Math.max(min, max) };
}

/** As many as there were, as far as the bounds of now let them be. */
export function firstCount(resources: ResourceSpec, role: Role, before: Counts): number {
  const { min, max } = scaleBounds(resources, role);
  return Math.min(Math.max(before[role] ?? min, min), max);
}
