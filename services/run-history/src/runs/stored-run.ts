/** A run as the journal stores it. Dates are as events say them, in ISO 8601 with milliseconds. */
export interface StoredRun {
  run_id: string;
  workspace_id: string;
  deployment_id: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string | null;
  revision_id: string | null;
  cron_id: string | null;
  status: string;
  attempt: number;
  created_at: string | null;
  started_at: string | null;
  ended_at: string | null;
  queue_ms: number | null;
  duration_ms: number | null;
  error_class: string | null;
  error_message: string | null;
  cancel_action: string | null;
  metadata: Record<string, unknown> | null;
  creator_kind: string | null;
  creator: string | null;
  creator_key_id: string | null;
  /** The calls of all attempts; null: the journal knows of none. */
  model_calls: number | null;
  tool_calls: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
}

/** Types of the columns in SQL, by their names. */
const RUN_COLUMN_TYPES: Record<keyof StoredRun, string> = {
  run_id: 'uuid',
  workspace_id: 'uuid',
  deployment_id: 'uuid',
  thread_id: 'uuid',
  assistant_id: 'uuid',
  graph_id: 'text',
  revision_id: 'uuid',
  cron_id: 'uuid',
  status: 'text',
  attempt: 'integer',
  created_at: 'timestamptz',
  started_at: 'timestamptz',
  ended_at: 'timestamptz',
  queue_ms: 'integer',
  duration_ms: 'integer',
  error_class: 'text',
  error_message: 'text',
  cancel_action: 'text',
  metadata: 'jsonb',
  creator_kind: 'text',
  creator: 'text',
  creator_key_id: 'text',
  model_calls: 'integer',
  tool_calls: 'integer',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
};

const NAMES = Object.keys(RUN_COLUMN_TYPES) as (keyof StoredRun)[];

/** The columns that a change of the run may write. */
export const CHANGING_COLUMNS = NAMES.filter(
  (name) => !['run_id', 'workspace_id', 'deployment_id', 'thread_id', 'assistant_id'].includes(name),
);

/** The record of `jsonb_to_recordset`. */
export const RUN_RECORD = NAMES.map((name) => `${name} ${RUN_COLUMN_TYPES[name]}`).join(', ');

export const RUN_COLUMNS = NAMES.join(', ');

/** The columns that the driver would give in another form. */
const SELECT_AS: Record<string, (name: string) => string> = {
  timestamptz: (name) => `to_char(${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  bigint: (name) => `${name}::float8`,
};

/** Selects a row as a {@link StoredRun}. */
export const SELECT_RUN = NAMES.map((name) => {
  const select = SELECT_AS[RUN_COLUMN_TYPES[name]];
  return select ? `${select(name)} AS ${name}` : name;
}).join(', ');

/** An attempt that has a row of its own. */
export interface StoredAttempt {
  run_id: string;
  attempt: number;
  started_at: string | null;
  ended_at: string | null;
  /** Why another attempt followed; null while it goes on, and for the last one. */
  outcome: string | null;
}
