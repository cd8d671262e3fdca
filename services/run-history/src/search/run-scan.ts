import { isTimeoutOrOutOfMemory } from '@runyard/database';
import type pg from 'pg';
import { lowestIdAt, timeOfId } from '../runs/run-id-time.ts';
import type { Condition, Conditions } from './conditions.ts';

/** Runs that the first look along the order examines; each further one examines twice as many, up to the largest. */
const FIRST_WINDOW = 4_000;
const LARGEST_WINDOW = 64_000;
/** Runs that match by content and are sorted; more of them are found by looking along the order. */
const SORTED_MAX = 5_000;
/** A caller that wants more than can be found meanwhile gets what was found, and asks on. */
const PATIENCE_MS = 75;

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export interface Scan {
  conditions: Conditions;
  /** The columns that each run is returned with, as SQL. */
  columns: string;
  /** Runs at most. */
  limit: number;
  /** Only runs with lower ids. Default: all. */
  below?: string | undefined;
}

interface Row {
  run_id: string;
}

export interface ScannedRuns<Run extends Row> {
  /** Newest first. */
  runs: Run[];
  /** All matching runs that are not here have ids below this one; null: there is none. */
  below: string | null;
}

/**
 * Finds matching runs, newest first, at a bounded cost whatever they have to match.
 *
 * Common runs are found by looking along the order. Rare ones, of which the first look has not found enough, are found by
 * the index of their content and sorted. For rare ones without such an index, the look along the order goes on for a
 * while, and says how far it came. Left to the planner's guess, the wrong way takes seconds with millions of runs.
 */
export async function scanRuns<Run extends Row>(pool: pg.Pool, scan: Scan): Promise<ScannedRuns<Run>> {
  const { conditions, limit, below = HIGHEST_ID } = scan;
  const { perRun, byContent } = conditions;
  if (perRun.length === 0 && byContent.length === 0) {
    return pageOf(await select<Run>(pool, scan, { limit, below }), limit);
  }
  const deadline = performance.now() + PATIENCE_MS;
  const runs: Run[] = [];
  let position = below;
  for (let window = FIRST_WINDOW; ; window = Math.min(2 * window, LARGEST_WINDOW)) {
    const found = await lookAlong<Run>(pool, scan, { below: position, window, limit: limit - runs.length }).catch(
      (error: unknown) => {
        // Windows that were looked at before are worth an answer.
        if (isTimeoutOrOutOfMemory(error) && position !== below) return undefined;
        throw error;
      },
    );
    if (!found) return { runs, below: position };
    runs.push(...found.runs);
    if (runs.length > limit) return pageOf(runs, limit);
    if (found.floor === undefined) return { runs, below: null };
    position = found.floor;
    if (byContent.length > 0 && window === FIRST_WINDOW) {
      const rare = await selectByContent<Run>(pool, scan, { limit: limit - runs.length, below: position });
      if (rare) return pageOf([...runs, ...rare], limit);
    }
    if (performance.now() > deadline) return { runs, below: position };
  }
}

/** Looks at the next `window` runs. Without a floor there are no more of them. */
async function lookAlong<Run extends Row>(
  pool: pg.Pool,
  scan: Scan,
  { below, window, limit }: { below: string; window: number; limit: number },
): Promise<{ runs: Run[]; floor: string | undefined }> {
  const floor = await findFloor(pool, scan.conditions, { below, window });
  return { runs: await select<Run>(pool, scan, { limit, below, from: floor }), floor };
}

/** A run more than the limit was looked for: it shows that there are more. */
function pageOf<Run extends Row>(runs: Run[], limit: number): ScannedRuns<Run> {
  const page = runs.slice(0, limit);
  return { runs: page, below: runs.length > limit ? page.at(-1)!.run_id : null };
}

/**
 * Returns a bound above which the next `window` runs are; undefined when there are fewer. It is the time of an id, since
 * callers get it in cursors, and may not see the run itself.
 */
async function findFloor(
  pool: pg.Pool,
  { alongOrder }: Conditions,
  { below, window }: { below: string; window: number },
): Promise<string | undefined> {
  const { values, value, all } = newStatement();
  const { rows } = await pool.query<Row>(
    `SELECT run_id FROM run WHERE ${all(alongOrder)} AND run_id < ${value(below)}::uuid
     ORDER BY run_id DESC OFFSET ${value(window - 1)}::bigint LIMIT 1`,
    values,
  );
  const [last] = rows;
  return last && lowestIdAt(timeOfId(last.run_id)!);
}

async function select<Run extends Row>(
  pool: pg.Pool,
  { conditions: { alongOrder, perRun, byContent }, columns }: Scan,
  { limit, below, from = LOWEST_ID }: { limit: number; below: string; from?: string | undefined },
): Promise<Run[]> {
  const { values, value, all } = newStatement();
  const { rows } = await pool.query<Run>(
    `SELECT ${columns} FROM run
     WHERE ${all([...alongOrder, ...perRun, ...byContent])}
       AND run_id < ${value(below)}::uuid AND run_id >= ${value(from)}::uuid
     ORDER BY run_id DESC LIMIT ${value(limit + 1)}::bigint`,
    values,
  );
  return rows;
}

/** Returns the newest runs below a position that match by their content; undefined when those are too many to sort. */
async function selectByContent<Run extends Row>(
  pool: pg.Pool,
  { conditions: { alongOrder, perRun, byContent }, columns }: Scan,
  { limit, below }: { limit: number; below: string },
): Promise<Run[] | undefined> {
  const { values, value, all } = newStatement();
  // The order is applied outside, so that the planner has no reason to look along it; and what each run is looked at for,
  // so that the limit is one of the runs that are looked at.
  const text = `WITH matching AS MATERIALIZED (
       SELECT run_id FROM run WHERE ${all([...byContent, ...alongOrder])} AND run_id < ${value(below)}::uuid
       LIMIT ${value(SORTED_MAX + 1)}::bigint
     ), page AS MATERIALIZED (
       SELECT ${columns} FROM matching JOIN run USING (run_id) WHERE ${all([() => 'true', ...perRun])}
       ORDER BY run_id DESC LIMIT ${value(limit + 1)}::bigint
     )
     SELECT (SELECT count(*)::int FROM matching) AS matches, page.*
     FROM (VALUES (1)) AS always LEFT JOIN page ON true ORDER BY run_id DESC`;
  const rows = await pool.query<Run & { matches: number }>(text, values).then(
    (result) => result.rows,
    (error: unknown) => {
      if (isTimeoutOrOutOfMemory(error)) return undefined;
      throw error;
    },
  );
  if (!rows || rows[0]!.matches > SORTED_MAX) return undefined;
  return rows.filter(({ run_id }) => run_id !== null).map(({ matches: _, ...run }) => run as unknown as Run);
}

/** Gathers the values of a statement while its text is written. */
function newStatement() {
  const values: unknown[] = [];
  const value = (each: unknown) => `$${values.push(each)}`;
  const all = (conditions: readonly Condition[]) => conditions.map((condition) => condition(value)).join(' AND ');
  return { values, value, all };
}
