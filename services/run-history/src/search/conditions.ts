import type { RunFilters } from '@runyard/contracts';
import { toSqlJson, toSqlText } from '@runyard/database';
import { InvalidFieldError, type Tenant } from '@runyard/service-kit';
import type { RunScope } from '../access/visible-deployments.ts';
import { readTime } from '../read-time.ts';
import { oldestKept } from '../runs/retention-time.ts';
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
/** Levels of a filter on metadata. */
const DEPTH_MAX = 100;

/** Filters whose single value an index has together with the order, the rarest first. */
const INDEXED = [
  ['cron_ids', 'cron_id', 'uuid'],
  ['creators', 'creator', 'text'],
  ['assistant_ids', 'assistant_id', 'uuid'],
  ['deployment_ids', 'deployment_id', 'uuid'],
  ['statuses', 'status', 'text'],
] as const;

const NOT_INDEXED = [
  ['revision_ids', 'revision_id', 'uuid'],
  ['graph_ids', 'graph_id', 'text'],
  ['key_ids', 'creator_key_id', 'text'],
] as const;

/**
 * Translates a search into conditions on table `run`.
 *
 * @throws InvalidFieldError for a time that is none, or metadata that are nested too deeply
 */
export function conditionsOf(scope: RunScope, filters: RunFilters, retentionDays: number): Conditions {
  const found: Conditions = { alongOrder: [...ofScope(scope, retentionDays)], perRun: [], byContent: [] };
  const { alongOrder, perRun, byContent } = found;
  const { deploymentIds } = scope;
  if (deploymentIds) perRun.push((value) => `deployment_id = ANY(${value(deploymentIds)}::uuid[])`);
  // One index serves the order, with one value: any others are looked at for each run.
  const inOrder = INDEXED.find(([filter]) => filters[filter]?.length === 1);
  for (const each of [...INDEXED, ...NOT_INDEXED]) {
    const [filter, column, type] = each;
    const wanted = filters[filter]?.map(toSqlText);
    if (!wanted) continue;
    if (each === inOrder) alongOrder.push((value) => `${column} = ${value(wanted[0])}::${type}`);
    else perRun.push((value) => `${column} = ANY(${value(wanted)}::${type}[])`);
  }
  perRun.push(...ofNumbers(filters));
  const { created_after, created_before, thread_ids, metadata, error } = filters;
  if (created_after !== undefined) {
    const time = readTime(created_after, 'created_after');
    alongOrder.push((value) => `run_id >= ${value(lowestIdAt(time.getTime() - ID_AHEAD_MS))}::uuid`);
    perRun.push((value) => `created_at >= ${value(time.toISOString())}::timestamptz`);
  }
  if (created_before !== undefined) {
    const time = readTime(created_before, 'created_before');
    alongOrder.push((value) => `run_id < ${value(lowestIdAt(time.getTime() + ID_BEHIND_MS))}::uuid`);
    perRun.push((value) => `created_at < ${value(time.toISOString())}::timestamptz`);
  }
  if (thread_ids) byContent.push((value) => `thread_id = ANY(${value(thread_ids)}::uuid[])`);
  if (metadata && Object.keys(metadata).length > 0) {
    const json = toJsonOf(metadata);
    // The index has values alone: without one, every run is in it.
    const conditions = hasValue(metadata) ? byContent : perRun;
    conditions.push((value) => `metadata @> ${value(json)}::jsonb`);
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

/** The runs of a workspace that are kept. Those that are not any more are in the tables until their week is over. */
function ofScope(tenant: Tenant, retentionDays: number): Condition[] {
  return [
    (value) => `workspace_id = ${value(tenant.workspaceId)}::uuid`,
    // A workspace of another organization has none.
    (value) => `EXISTS (SELECT FROM deployment WHERE ${tenantCondition(tenant, value)})`,
    (value) => `run_id >= ${value(lowestIdAt(oldestKept(retentionDays)))}::uuid`,
  ];
}

function ofNumbers({ min_duration_ms, max_duration_ms, min_queue_ms, min_total_tokens }: RunFilters): Condition[] {
  return (
    [
      ['duration_ms >=', min_duration_ms],
      ['duration_ms <=', max_duration_ms],
      ['queue_ms >=', min_queue_ms],
      ['input_tokens + output_tokens >=', min_total_tokens],
    ] as const
  ).flatMap(([condition, bound]) =>
    bound === undefined ? [] : [(value: (each: unknown) => string) => `${condition} ${value(bound)}::bigint`],
  );
}

/** @throws InvalidFieldError */
function toJsonOf(metadata: Record<string, unknown>): string {
  if (isNestedDeeper(metadata, DEPTH_MAX)) {
    throw new InvalidFieldError(['body', 'metadata'], `Nested more than ${DEPTH_MAX} levels deep`);
  }
  return toSqlJson(metadata);
}

function isNestedDeeper(json: unknown, levels: number): boolean {
  if (json === null || typeof json !== 'object') return false;
  return levels === 0 || Object.values(json).some((inner) => isNestedDeeper(inner, levels - 1));
}

function hasValue(json: unknown): boolean {
  return json === null || typeof json !== 'object' || Object.values(json).some(hasValue);
}

/** Returns the condition on table `deployment` that it is one of the tenant's. */
function tenantCondition({ organizationId, workspaceId }: Tenant, value: (each: unknown) => string): string {
  return `workspace_id = ${value(workspaceId)}::uuid AND organization_id = ${value(organizationId)}::uuid`;
}
