import type { A2aTaskState } from '@runyard/contracts';
import { containsAny, toSqlJson, toSqlText, toUuid } from '@runyard/database';
import { NEEDS_AUTH, SUPERSEDED, TASK_CANCELED } from '@runyard/run-engine';
import type pg from 'pg';
import type { Scope } from '../../access/scope.ts';
import { EXACT_TOTAL_MAX } from '../../http/pagination.ts';
import { REJECTION } from './graph-signals.ts';
import type { PageMark } from './page-token.ts';
import { type TaskRecord, WAITING } from './task-record.ts';

export interface TaskFilters {
  assistantId: string;
  contextId?: string | undefined;
  states?: readonly A2aTaskState[] | undefined;
  /** ISO 8601; tasks whose state changed at that time or later. */
  since?: string | undefined;
}

/** A task in a list, with its place in the order. */
export type ListedTask = TaskRecord & { mark: PageMark };

/** A task that is the call of a tool of MCP. */
export interface ToolTask extends TaskRecord {
  assistantId: string;
  /** Times as ISO 8601 has them. */
  createdAt: string;
  /** Milliseconds from its creation for which it is kept. */
  ttlMs: number;
}

/** Run `l` was accepted after run `n` on its thread. */
export const IS_NEWEST_OF_THREAD = 'NOT EXISTS (SELECT 1 FROM run l WHERE l.thread_id = n.thread_id AND l.seq > n.seq)';
const IS_NEWEST_OF_TASK = `NOT EXISTS (SELECT 1 FROM run l WHERE l.thread_id = n.thread_id AND l.seq > n.seq
                                         AND l.metadata ->> 'task_id' = n.metadata ->> 'task_id')`;

/** The state of the task whose newest run is `n`, on thread `t`. */
const STATE = `CASE
  WHEN n.metadata ? '${TASK_CANCELED}' OR n.status = 'interrupted' THEN 'TASK_STATE_CANCELED'
  WHEN n.status = 'pending' AND n.attempt = 0 THEN 'TASK_STATE_SUBMITTED'
  WHEN n.status IN ('pending', 'running') THEN 'TASK_STATE_WORKING'
  WHEN n.status = 'success' AND t.status = 'interrupted' AND ${IS_NEWEST_OF_THREAD}
    THEN CASE WHEN n.metadata ? '${NEEDS_AUTH}' THEN 'TASK_STATE_AUTH_REQUIRED' ELSE 'TASK_STATE_INPUT_REQUIRED' END
  WHEN n.status = 'success' THEN 'TASK_STATE_COMPLETED'
  WHEN n.error ->> 'error' = '${REJECTION}' THEN 'TASK_STATE_REJECTED'
  ELSE 'TASK_STATE_FAILED' END`;

const COLUMNS = `f.run_id AS "taskId", n.thread_id AS "contextId", n.run_id AS "runId", ${STATE} AS state, n.error,
  ${wireTime('n.updated_at')} AS "statusAt",
  ${IS_NEWEST_OF_THREAD} AS "isNewest",
  coalesce(n.metadata ->> '${TASK_CANCELED}' = '${SUPERSEDED}', false) AS "isSuperseded"`;

/** Tasks whose first run, `f`, is marked as the call of a tool, with their newest run `n`. */
const TOOL_TASKS = `SELECT ${COLUMNS}, f.assistant_id AS "assistantId", ${wireTime('f.created_at')} AS "createdAt",
         (f.metadata ->> 'mcp_ttl_ms')::float8 AS "ttlMs"
  FROM run f
  JOIN thread t ON t.thread_id = f.thread_id AND ${containsAny('t.metadata', '$2::jsonb')}
  CROSS JOIN LATERAL (
    SELECT r.run_id, r.thread_id, r.seq, r.status, r.attempt, r.metadata, r.error, r.updated_at
    FROM run r WHERE r.thread_id = f.thread_id AND r.metadata ->> 'task_id' = f.run_id::text
    ORDER BY r.seq DESC LIMIT 1
  ) n
  WHERE f.metadata ? 'task_id' AND f.metadata ->> 'task_id' = f.run_id::text
    AND jsonb_typeof(f.metadata -> 'mcp_ttl_ms') = 'number'`;

function wireTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/**
 * Reads tasks. A task is a chain of runs of one thread that have its id, that of the first of them, in their metadata.
 * Whoever may write runs of the thread may add to the chain; nobody can choose the id of the first.
 */
export class TaskStore {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async find(scope: Scope, assistantId: string, taskId: string): Promise<TaskRecord | undefined> {
    const { rows } = await this.#pool.query<TaskRecord>({
      name: 'agent_api_find_task',
      text: `SELECT ${COLUMNS}
             FROM run f
             JOIN thread t ON t.thread_id = f.thread_id AND ${containsAny('t.metadata', '$3::jsonb')}
             CROSS JOIN LATERAL (
               SELECT r.run_id, r.thread_id, r.seq, r.status, r.attempt, r.metadata, r.error, r.updated_at
               FROM run r WHERE r.thread_id = f.thread_id AND r.metadata ->> 'task_id' = f.run_id::text
               ORDER BY r.seq DESC LIMIT 1
             ) n
             WHERE f.run_id = $1 AND f.assistant_id = $2 AND f.metadata ->> 'task_id' = f.run_id::text`,
      values: [taskId, assistantId, toSqlJson(scope)],
    });
    return rows[0];
  }

  async findToolTask(scope: Scope, taskId: string): Promise<ToolTask | undefined> {
    const { rows } = await this.#pool.query<ToolTask>({
      name: 'agent_api_find_tool_task',
      text: `${TOOL_TASKS} AND f.run_id = $1`,
      values: [taskId, toSqlJson(scope)],
    });
    return rows[0];
  }

  /** Returns the newest first. `before` is the last task of the page before. */
  async listToolTasks(scope: Scope, { before, limit }: { before: string | null; limit: number }): Promise<ToolTask[]> {
    const { rows } = await this.#pool.query<ToolTask>({
      name: 'agent_api_list_tool_tasks',
      text: `${TOOL_TASKS} AND ($1::uuid IS NULL OR f.run_id < $1) ORDER BY f.run_id DESC LIMIT $3`,
      values: [before, toSqlJson(scope), limit],
    });
    return rows;
  }

  /** Returns the task of a thread that waits for input. */
  async findWaiting(scope: Scope, assistantId: string, contextId: string): Promise<TaskRecord | undefined> {
    const page = await this.list(scope, { assistantId, contextId, states: WAITING }, { limit: 1, after: undefined });
    return page[0];
  }

  /** Returns tasks, the one whose state changed last first. */
  async list(
    scope: Scope,
    filters: TaskFilters,
    { limit, after }: { limit: number; after: PageMark | undefined },
  ): Promise<ListedTask[]> {
    const { rows } = await this.#pool.query<TaskRecord & { changedAt: string }>({
      name: 'agent_api_list_tasks',
      text: `SELECT ${COLUMNS}, to_char(n.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "changedAt"
             ${MATCHING} AND ($6::timestamptz IS NULL OR (n.updated_at, n.run_id) < ($6::timestamptz, $7::uuid))
             ORDER BY n.updated_at DESC, n.run_id DESC LIMIT $8`,
      values: [...parametersOf(scope, filters), after?.changedAt ?? null, after?.runId ?? null, limit],
    });
    return rows.map(({ changedAt, ...task }) => ({ ...task, mark: { changedAt, runId: task.runId } }));
  }

  /** Counts the matches, no further than the exact total goes. */
  async count(scope: Scope, filters: TaskFilters): Promise<number> {
    const { rows } = await this.#pool.query<{ count: string }>({
      name: 'agent_api_count_tasks',
      text: `SELECT count(*) AS count FROM (SELECT 1 ${MATCHING} LIMIT ${EXACT_TOTAL_MAX}) AS matching`,
      values: parametersOf(scope, filters),
    });
    return Number(rows[0]!.count);
  }
}

/** The rows of lists. A condition on the thread that is not a UUID matches none. */
const MATCHING = `
  FROM run n
  JOIN run f ON f.thread_id = n.thread_id AND f.assistant_id = n.assistant_id AND f.metadata ->> 'task_id' = f.run_id::text
            AND f.run_id = ${toUuid("n.metadata ->> 'task_id'")}
  JOIN thread t ON t.thread_id = n.thread_id AND ${containsAny('t.metadata', '$2::jsonb')}
  WHERE n.assistant_id = $1 AND n.metadata ? 'task_id' AND ${IS_NEWEST_OF_TASK}
    AND ($3::text IS NULL OR n.thread_id::text = lower($3)) AND ($4::text[] IS NULL OR (${STATE}) = ANY($4))
    AND ($5::timestamptz IS NULL OR n.updated_at >= $5::timestamptz)`;

function parametersOf(scope: Scope, { assistantId, contextId, states, since }: TaskFilters): unknown[] {
  return [
    assistantId,
    toSqlJson(scope),
    contextId === undefined ? null : toSqlText(contextId),
    states ?? null,
    since ?? null,
  ];
}
