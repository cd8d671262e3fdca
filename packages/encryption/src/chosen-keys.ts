import { EncryptionError } from './cipher.ts';

/**
 * Keys that the platform itself reads inside the database, or that say who may see a row. Other servers refuse those
 * that begin with `langgraph_`, too.
 */
const READABLE_KEYS: ReadonlySet<string> = new Set([
  'assistant_id',
  'checkpoint_id',
  'checkpoint_ns',
  'counters_since_delta_snapshot',
  'cron_id',
  'graph_id',
  'langgraph_api_url',
  'langgraph_api_version',
  'langgraph_auth_permissions',
  'langgraph_auth_user_id',
  'langgraph_host',
  'langgraph_plan',
  'langgraph_request_id',
  'langgraph_version',
  'parents',
  'run_attempt',
  'run_id',
  'source',
  'step',
  'task_id',
  'thread_id',
]);

/** Further metadata that the platform writes and reads itself. Clients cannot send most of it. */
const OWN_METADATA: ReadonlySet<string> = new Set([
  'created_by',
  'mcp_answers',
  'mcp_request',
  'mcp_ttl_ms',
  'task_canceled',
  'task_needs_auth',
]);
const OWN_PREFIXES = ['langgraph_', 'svc_', '__'];

/** Returns whether the platform itself reads this key of metadata inside the database, or compares its value there. */
export function isPlatformMetadata(key: string): boolean {
  return READABLE_KEYS.has(key) || OWN_METADATA.has(key) || OWN_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** @param names the value of LANGGRAPH_AES_JSON_KEYS: names separated by commas. @throws EncryptionError */
export function parseJsonKeys(names: string | undefined): ReadonlySet<string> {
  const keys = new Set(
    (names ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  );
  const refused = [...keys].filter(isPlatformMetadata);
  if (refused.length === 0) return keys;
  throw new EncryptionError(`LANGGRAPH_AES_JSON_KEYS names what the platform has to read: ${refused.join(', ')}.`);
}
