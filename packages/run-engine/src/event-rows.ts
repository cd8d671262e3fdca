import { EVENT_ERROR_CHARACTERS_MAX, EVENT_METADATA_BYTES_MAX, type TopicName } from '@runyard/contracts';

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

/** A field of an event that not every run has: without it, the event has no such key. */
interface OptionalField {
  /** SQL that is true for the runs that have it. */
  condition: string;
  value: string;
}

const isText = (key: string) => `jsonb_typeof(error -> '${key}') = 'string'`;
const cutText = (key: string) => `'${key}', left(error ->> '${key}', ${EVENT_ERROR_CHARACTERS_MAX})`;

const OPTIONAL_FIELDS = {
  /** The table has to have `metadata_text` too. */
  metadata: { condition: `octet_length(metadata_text) <= ${EVENT_METADATA_BYTES_MAX}`, value: 'metadata' },
  creator: { condition: 'creator IS NOT NULL', value: 'creator' },
  /** The column promises no form: an error of another one is left out. */
  error: {
    condition: `${isText('error')} AND ${isText('message')}`,
    value: `jsonb_build_object(${cutText('error')}, ${cutText('message')})`,
  },
} satisfies Record<string, OptionalField>;

type OptionalColumn = keyof typeof OPTIONAL_FIELDS;
type EventColumn = 'attempt' | 'status' | 'action' | 'graph_id' | 'revision_id' | OptionalColumn;

function isOptional(column: EventColumn): column is OptionalColumn {
  return column in OPTIONAL_FIELDS;
}

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
  const [topic, source, type, deploymentId] = [0, 1, 2, 3].map((index) => `$${first + index}::text`);
  return `
    SELECT ${topic} AS topic, thread_id AS key, jsonb_build_object(
      'specversion', '1.0', 'id', gen_random_uuid(), 'source', ${source}, 'type', ${type}, 'subject', thread_id,
      'time', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'datacontenttype', 'application/json',
      'data', ${buildData(deploymentId!, columns)}) AS event
      ${extra.map((column) => `, ${column}`).join('')}
    FROM ${table}`;
}

function buildData(deploymentId: string, columns: readonly EventColumn[]): string {
  const required = ['run_id', 'thread_id', 'assistant_id', ...columns.filter((column) => !isOptional(column))];
  const fields = [`'deployment_id', ${deploymentId}`, ...required.map((column) => `'${column}', ${column}`)];
  return buildObject(fields, columns.filter(isOptional));
}

/**
 * Chooses between objects with and without each optional field. Removing nulls from one object would remove them from
 * the metadata of users too, and joining objects copies them.
 */
function buildObject(fields: string[], [next, ...rest]: readonly OptionalColumn[]): string {
  if (next === undefined) return `jsonb_build_object(${fields.join(', ')})`;
  const { condition, value } = OPTIONAL_FIELDS[next];
  const withNext = buildObject([...fields, `'${next}', ${value}`], rest);
  return `CASE WHEN ${condition} THEN ${withNext} ELSE ${buildObject(fields, rest)} END`;
}
