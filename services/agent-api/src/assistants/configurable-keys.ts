/** Keys that only the platform sets: the caller, the thread and the run. */
const PLATFORM_KEY = /^(thread_id|run_id|__.*|svc_.*|langgraph_auth_.*)$/;
/** Keys that choose where a run starts and mean nothing to a graph's context. */
const CHECKPOINT_KEY = /^checkpoint_(id|ns|map)$/;

export function withoutPlatformKeys(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !PLATFORM_KEY.test(key)));
}

export function withoutCheckpointKeys(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !CHECKPOINT_KEY.test(key)));
}

/**
 * Returns the part of a run's `configurable` that decides how its graph is made, without what belongs to that run
 * alone.
 */
export function configurableOfGraph(configurable: Record<string, unknown>): Record<string, unknown> {
  return withoutCheckpointKeys(withoutPlatformKeys(configurable));
}
