import type { RunFilters } from '@runyard/contracts';
import { toSqlJson, toSqlText } from '@runyard/database';
import type { Tenant } from '@runyard/service-kit';
import type { RunScope } from '../access/visible-deployments.ts';
import { lowestIdAt } from '../runs/run-id-time.ts';

/**
 * Writes a condition of a statement.
 *
 * @param value adds a value to the parameters of the statement, and returns its name there
 */
export type Condition = (value: (each: unknown) => string) => string;

/** The conditions of a search, by how they are served. */
export interface Conditions {
  /** An index serves them together with the order: looking along it meets no other runs. */
  alongOrder: Condition[];
  /** Each run is looked at for them. */
  perRun: Condition[];
  /** They have an index of their own, which finds few runs in any order. */
  byContent: Condition[];
}

/** The id of a run is made before its row, in a request that may wait. */
const ID_AHEAD_MS = 3_600_000;
const ID_BEHIND_MS = 60_000;

/** Translates a search into conditions on table `run`. */
export function conditionsOf(
  { workspaceId, organizationId, deploymentIds }: RunScope,
  filters: RunFilters,
): Conditions {
  const found: Conditions = { alongOrder: [], perRun: [], byContent: [] };
  const { alongOrder, perRun, byContent } = found;
  alongOrder.push(
    (value) => `workspace_id = ${value(workspaceId)}::uuid`,
    // A workspace of another organization has none.
    (value) => `EXISTS (SELECT FROM deployment WHERE ${tenantCondition({ organizationId, workspaceId }, value)})`,
  );
  const isOneOf = (column: string, type: 'uuid' | 'text', wanted: readonly string[] | undefined) => {
    if (wanted) perRun.push((value) => `${column} = ANY(${value(wanted.map(toSqlText))}::${type}[])`);
  };
  /** A single value has its place in an index with the order, and several have none. */
  const hasIndex = (column: string, type: 'uuid' | 'text', wanted: readonly string[] | undefined) => {
    if (wanted?.length !== 1) return isOneOf(column, type, wanted);
    alongOrder.push((value) => `${column} = ${value(toSqlText(wanted[0]!))}::${type}`);
  };
  const isAt = (column: string, operator: '>=' | '<=', ms: number | undefined) => {
    if (ms !== undefined) perRun.push((value) => `${column} ${operator} ${value(ms)}::integer`);
  };
  isOneOf('deployment_id', 'uuid', deploymentIds);
  hasIndex('deployment_id', 'uuid', filters.deployment_ids);
  hasIndex('assistant_id', 'uuid', filters.assistant_ids);
  hasIndex('cron_id', 'uuid', filters.cron_ids);
  hasIndex('status', 'text', filters.statuses);
  hasIndex('creator', 'text', filters.creators);
  isOneOf('revision_id', 'uuid', filters.revision_ids);
  isOneOf('graph_id', 'text', filters.graph_ids);
  isOneOf('creator_key_id', 'text', filters.key_ids);
  isAt('duration_ms', '>=', filters.min_duration_ms);
  isAt('duration_ms', '<=', filters.max_duration_ms);
  isAt('queue_ms', '>=', filters.min_queue_ms);
  const { created_after: after, created_before: before, thread_ids: threads, metadata, error } = filters;
  if (after !== undefined) {
    const time = new Date(after);
    alongOrder.push((value) => `run_id >= ${value(lowestIdAt(time.getTime() - ID_AHEAD_MS))}::uuid`);
    perRun.push((value) => `created_at >= ${value(time.toISOString())}::timestamptz`);
  }
  if (before !== undefined) {
    const time = new Date(before);
    alongOrder.push((value) => `run_id < ${value(lowestIdAt(time.getTime() + ID_BEHIND_MS))}::uuid`);
    perRun.push((value) => `created_at < ${value(time.toISOString())}::timestamptz`);
  }
  if (threads) byContent.push((value) => `thread_id = ANY(${value(threads)}::uuid[])`);
  if (metadata && Object.keys(metadata).length > 0) {
    byContent.push((value) => `metadata @> ${value(toSqlJson(metadata))}::jsonb`);
  }
  if (error !== undefined) {
    byContent.push(
      (value) =>
        `error_class IS NOT NULL AND to_tsvector('simple', error_class || ' ' || error_message)
           @@ plainto_tsquery('simple', ${value(toSqlText(error))}::text)`,
    );
  }
  return found;
}

/** Returns the condition on table `deployment` that it is one of the tenant's. */
function tenantCondition({ organizationId, workspaceId }: Tenant, value: (each: unknown) => string): string {
  return `workspace_id = ${value(workspaceId)}::uuid AND organization_id = ${value(organizationId)}::uuid`;
}
