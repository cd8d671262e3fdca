/**
 * Metadata keys that the platform writes itself. Clients may send them: they are dropped, not refused. `graph_id` on
 * threads is not among them.
 */
const RESERVED_KEYS: ReadonlySet<string> = new Set([
  'created_by',
  'run_id',
  'thread_id',
  'checkpoint_id',
  'checkpoint_ns',
  'run_attempt',
  'cron_id',
]);
const RESERVED_PREFIXES = ['langgraph_', 'svc_', '__'];

function isReservedMetadataKey(key: string): boolean {
  return RESERVED_KEYS.has(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

export function withoutReservedMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isReservedMetadataKey(key)));
}
