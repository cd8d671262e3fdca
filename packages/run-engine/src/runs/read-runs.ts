import { rowsWithinBytes, type SizedRows, toSizedRows } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import type pg from 'pg';
import type { RunStatus } from '../types.ts';
import { listedRunOfRow, RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts';
import type { RunOutcome, RunRecord } from './types.ts';

export interface RunQuery {
  threadId: string;
  /**
   * Selects stateless runs, whose thread is not kept, instead of those of the thread with that id. Default: false.
   */
  isStateless?: boolean;
  status?: RunStatus;
  limit: number;
  offset: number;
  /** False when the arguments of the runs are not needed: they are empty then, and not read. Default: true. */
  withKwargs?: boolean;
}

/** @throws EncryptionError when the run cannot be decrypted */
export async function getRun(
  db: pg.Pool,
  threadId: string,
  runId: string,
  cipher: DataCipher,
): Promise<RunRecord | undefined> {
  const { rows } = await db.query<RunRow>({
    name: 'engine_get_run',
    text: `SELECT ${RUN_COLUMNS} FROM run WHERE run_id = $2 AND thread_id = $1`,
    values: [threadId, runId],
  });
  return rows[0] && runOfRow(rows[0], cipher);
}

/**
 * Leaves out final values that are stored in more than `maxValuesBytes`. @throws EncryptionError when they cannot be
 * decrypted
 */
export async function readOutcome(
  db: pg.Pool,
  { threadId, runId }: { threadId: string; runId: string },
  maxValuesBytes: number | undefined,
  cipher: DataCipher,
): Promise<RunOutcome | undefined> {
  const { rows } = await db.query<Omit<RunOutcome, 'values'> & { values: Buffer | null }>({
    name: 'engine_run_outcome',
    text: `SELECT status, error, coalesce(octet_length(result), 0) AS "valuesBytes",
                  CASE WHEN octet_length(result) <= coalesce($3::int, octet_length(result)) THEN result END AS "values"
           FROM run WHERE run_id = $2 AND thread_id = $1`,
    values: [threadId, runId, maxValuesBytes ?? null],
  });
  return rows[0] && { ...rows[0], values: rows[0].values && cipher.decrypt(rows[0].values) };
}

/** The arguments where $6 is true. Large ones are not even fetched by Postgres where they are not needed. */
const WANTED_KWARGS = `CASE WHEN $6 THEN kwargs ELSE '{}'::bytea END`;
const LISTED_COLUMNS = RUN_COLUMNS.replace('kwargs', `${WANTED_KWARGS} AS kwargs`);
/** Bytes of a row besides its arguments and its metadata, with what they take in memory. */
const ROW_BYTES = 1_024;
const RUNS_OF_PAGE = `SELECT ${LISTED_COLUMNS} FROM run
  WHERE thread_id = $1 AND ($2::text IS NULL OR status = $2) AND keeps_thread <> $5
  ORDER BY seq DESC LIMIT $3 OFFSET $4`;
const [BEFORE, BETWEEN, AFTER] = rowsWithinBytes(`${ROW_BYTES} + octet_length(metadata::text) + octet_length(kwargs)`);

const valuesOf = ({ threadId, status, limit, offset, isStateless = false, withKwargs = true }: RunQuery) => [
  threadId,
  status ?? null,
  limit,
  offset,
  isStateless,
  withKwargs,
];

/** Returns the newest first. Runs that cannot be decrypted have a `fault`. */
export async function listRuns(db: pg.Pool, query: RunQuery, cipher: DataCipher): Promise<RunRecord[]> {
  const { rows } = await db.query<RunRow>({ name: 'engine_list_runs', text: RUNS_OF_PAGE, values: valuesOf(query) });
  return rows.map((row) => listedRunOfRow(row, cipher));
}

/** Returns the same runs with the bytes of their rows; none where those are more than `maxBytes`. */
export async function listRunsWithin(
  db: pg.Pool,
  query: RunQuery & { maxBytes: number },
  cipher: DataCipher,
): Promise<SizedRows<RunRecord>> {
  const { rows } = await db.query({
    name: 'engine_list_runs_within',
    text: `${BEFORE}${RUNS_OF_PAGE}${BETWEEN}$7${AFTER}`,
    values: [...valuesOf(query), query.maxBytes],
  });
  const list = toSizedRows<RunRow>(rows);
  return { ...list, rows: list.rows.map((row) => listedRunOfRow(row, cipher)) };
}

/**
 * Returns the named runs that exist, for callers that watch many at once. Runs that cannot be decrypted have a `fault`.
 */
export async function findRuns(db: pg.Pool, runIds: string[], cipher: DataCipher): Promise<RunRecord[]> {
  const { rows } = await db.query<RunRow>({
    name: 'engine_find_runs',
    text: `SELECT ${RUN_COLUMNS} FROM run WHERE run_id = ANY($1::uuid[])`,
    values: [runIds],
  });
  return rows.map((row) => listedRunOfRow(row, cipher));
}

/** Returns which of these runs are pending or running; the others have ended or were deleted. */
export async function runsInFlight(db: pg.Pool, runIds: string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ run_id: string }>({
    name: 'engine_runs_in_flight_of',
    text: `SELECT run_id FROM run WHERE run_id = ANY($1::uuid[]) AND status IN ('pending', 'running')`,
    values: [runIds],
  });
  return new Set(rows.map((row) => row.run_id));
}
