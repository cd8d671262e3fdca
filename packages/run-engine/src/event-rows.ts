import type { TopicName } from '@runyard/contracts';

/** The values of the events of a statement that do not depend on its runs. */
export interface RunEventTemplate {
  topic: TopicName;
  source: string;
  type: string;
  deploymentId: string;
}

/** Returns the parameters of `insertEvents` and `selectEvents`. */
export function templateValues({ topic, source, type, deploymentId }: RunEventTemplate): string[] {
  return [topic, source, type, deploymentId];
}

type EventColumn = 'attempt' | 'status' | 'action';

/**
 * Returns the part of a statement that writes an event for each run that it changes, so that events cost no statement
 * of their own. It reads `run_id`, `thread_id`, `assistant_id` and the named columns of the table.
 *
 * @param first number of the first of four parameters
 */
export function insertEvents(table: string, first: number, columns: readonly EventColumn[] = []): string {
  return `INSERT INTO outbox (topic, key, event) SELECT topic, key, event FROM (${selectEvents(table, first, columns)}) e`;
}

/** Returns a query for the events that `insertEvents` writes, with the further columns `extra`. */
export function selectEvents(
  table: string,
  first: number,
  columns: readonly EventColumn[] = [],
  extra: readonly string[] = [],
): string {
  const names = ['run_id', 'thread_id', 'assistant_id', ...columns];
  const [topic, source, type, deploymentId] = [0, 1, 2, 3].map((index) => `$${first + index}::text`);
  return `
    SELECT ${topic} AS topic, thread_id AS key, jsonb_build_object(
      'specversion', '1.0', 'id', gen_random_uuid(), 'source', ${source}, 'type', ${type}, 'subject', thread_id,
      'time', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'datacontenttype', 'application/json',
      'data', jsonb_build_object('deployment_id', ${deploymentId}, ${names.map((name) => `'${name}', ${name}`).join(', ')})) AS event
      ${extra.map((column) => `, ${column}`).join('')}
    FROM ${table}`;
}
