import type { ResourceSpec } from '@runyard/contracts';

/** The two kinds of processes of a deployment; each is scaled by itself. */
export type Role = 'agent-api' | 'run-worker';

export interface ScaleBounds {
  min: number;
  max: number;
}

/** Without a `max_scale` there are always `min_scale`. For workers those with `queue_`, where `max_scale` stands in for theirs. */
export function scaleBounds(resources: ResourceSpec, role: Role): ScaleBounds {
  const { min_scale, max_scale, queue_min_scale, queue_max_scale } = resources;
  const min = (role === 'agent-api' ? min_scale : queue_min_scale) ?? 1;
  const max = (role === 'agent-api' ? max_scale : (queue_max_scale ?? max_scale)) ?? min;
  return { min, max: Math.max(min, max) };
}
