import { sqlState, withoutBeforeRows } from '@runyard/database';
import { type DataCipher, EncryptionError, type EncryptionScope, keyHeaderOf } from '@runyard/encryption';
import type pg from 'pg';
import { insertEvents, type RunEventTemplate, templateValues } from '../event-rows.ts';
import { NEXT_EPOCH } from '../locks.ts';
import { IS_ACTIVE_REVISION } from '../queue/active-revision.ts';
import { CLAIM_FLOOR } from '../queue/queue-floors.ts';
import { nextRunId } from '../queue/thread-heads.ts';
import type { Fence } from '../types.ts';
import type { ClaimedRun, DelayedRun } from './types.ts';

const UNIQUE_VIOLATION = '23505';

export interface Claims {
  claimed: ClaimedRun[];
  /** Runs that wait for handlers of the project: each for those of its own context alone. */
  delayed: (Encrypted & { run: Promise<ClaimedRun> })[];
  /** Runs that were claimed and cannot be executed: their arguments cannot be decrypted in this process. */
  undecryptable: (Encrypted & { error: EncryptionError })[];
}

interface Encrypted {
  fence: Fence;
  /** Names the key of the run's arguments. */
  header: Buffer | undefined;
}

/** The named runs, and all runs of the named threads. */
export interface RunSelection {
  runIds: string[];
  threadIds: string[];
}

export interface ClaimOptions {
  /** Default: any runs. */
  among?: RunSelection | undefined;
  /** Maximum number of quarantined runs, each of which needs an isolated host. Default: no limit. */
  quarantinedMax?: number;
  /**
   * Is called with runs that are not decrypted yet, before the claim resolves with the others. Default: the claim waits
   * for all.
   */
  onDelayed?: (run: DelayedRun) => void;
}

export interface Claim extends Omit<ClaimOptions, 'onDelayed'> {
  workerId: string;
  limit: number;
  /** Headers of the keys whose runs are left to other workers. */
  withoutKeys: Buffer[];
}

/**
 * Claims up to `limit` runs for a worker, those that have been ready longest on idle threads. Only the first in line of
 * each thread is claimed. Delayed runs stand in line once they are ready, and behind a run that waits for another
 * attempt.
 *
 * It is one statement, and so one round trip. It looks for threads, by `head_ready_at` of their fences, so that runs
 * that wait behind others cost nothing. The fence rows that it locks stand for the threads. While a thread has a
 * run its fence names it, so that two claims at once cannot claim two runs of one thread. Locked fences are skipped, so
 * nothing waits. The commit does not wait for the disk: when a crash of the server undoes a claim, the run still waits,
 * and its epoch is never used.
 */
export async function claimRuns(
  db: pg.Pool,
  claim: Claim,
  event: RunEventTemplate,
  cipher: DataCipher,
): Promise<Claims> {
  return decryptClaims(await claimWithRetries(db, claim, event), cipher);
}

/**
 * Makes all tries on one connection: the next begins once the previous one has released its locks, because it would
 * skip locked rows.
 */
async function claimWithRetries(db: pg.Pool, claim: Claim, event: RunEventTemplate): Promise<ClaimedRow[]> {
  const client = await db.connect();
  let failure: Error | undefined;
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await claimOnce(client, claim, event);
      } catch (error) {
        // The unique index on running runs refused the claim: another transaction started a run of one of these threads
        // outside the fence. Its row is visible now, so the next try skips that thread.
        if (attempt >= 3 || sqlState(error) !== UNIQUE_VIOLATION) throw error;
      }
    }
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}

async function claimOnce(
  db: pg.PoolClient,
  { workerId, limit, among, quarantinedMax = limit, withoutKeys }: Claim,
  event: RunEventTemplate,
): Promise<ClaimedRow[]> {
  const values: unknown[] = [workerId, limit, ...templateValues(event), quarantinedMax];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  let name = among ? 'engine_claim_among' : 'engine_claim_any';
  let condition = among ? amongRuns(parameter(among.runIds), parameter(among.threadIds)) : ANY;
  // Values of runs are read only where that is needed.
  if (withoutKeys.length > 0) {
    name += '_without_keys';
    condition += notEncryptedWith(parameter(withoutKeys));
  }
  const statement = { name, text: claimStatement(condition), values };
  const { rows } = await db.query<ClaimedRow>(withoutBeforeRows<pg.QueryConfig>(statement));
  return rows;
}

interface ClaimedRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  attempt: number;
  keeps_thread: boolean;
  is_thread_new: boolean;
  metadata: Record<string, unknown>;
  kwargs: Buffer;
  epoch: string;
  is_suspect: boolean;
  lost_for_ms: number | null;
  /** Null: no budget counts the run. */
  is_stopped_by_budgets: boolean | null;
  created_at: Date;
}

function decryptClaims(rows: ClaimedRow[], cipher: DataCipher): Claims {
  const claims: Claims = { claimed: [], delayed: [], undecryptable: [] };
  for (const row of rows) {
    try {
      const run = decryptClaim(row, cipher);
      if (run instanceof Promise) {
        // Its owner waits for it once all rows are looked at.
        run.catch(() => undefined);
        claims.delayed.push({ ...encryptedOf(row), run });
      } else claims.claimed.push(run);
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      claims.undecryptable.push({ ...encryptedOf(row), error });
    }
  }
  return claims;
}

/** Decrypts a run at once where nothing has to be loaded. @throws EncryptionError */
function decryptClaim(row: ClaimedRow, cipher: DataCipher): ClaimedRun | Promise<ClaimedRun> {
  const loading = cipher.loadKeys([row]);
  return loading ? loading.then(() => decryptLoaded(row, cipher)) : decryptLoaded(row, cipher);
}

function decryptLoaded(row: ClaimedRow, cipher: DataCipher): ClaimedRun | Promise<ClaimedRun> {
  const run = toClaimedRun(row, cipher);
  const toScoped = (inScope: EncryptionScope) => ({ ...run, inScope });
  const scope = cipher.scopeOf(row.kwargs);
  return scope instanceof Promise ? scope.then(toScoped) : toScoped(scope);
}

function encryptedOf(row: ClaimedRow): Encrypted {
  return { fence: toFence(row), header: keyHeaderOf(row.kwargs) };
}

function toFence({ thread_id: threadId, epoch, run_id: runId }: ClaimedRow): Fence {
  return { threadId, epoch: BigInt(epoch), runId };
}

function toClaimedRun(row: ClaimedRow, cipher: DataCipher): ClaimedRun {
  return {
    runId: row.run_id,
    threadId: row.thread_id,
    assistantId: row.assistant_id,
    attempt: row.attempt,
    keepsThread: row.keeps_thread,
    isThreadNew: row.is_thread_new,
    metadata: cipher.json.decrypt(row.metadata),
    kwargs: JSON.parse(cipher.decrypt(row.kwargs).toString('utf8')),
    fence: toFence(row),
    isQuarantined: row.is_suspect,
    lostForMs: row.lost_for_ms,
    ...(row.is_stopped_by_budgets !== null && { budgets: row.is_stopped_by_budgets ? 'enforced' : 'shadow' }),
    createdAt: row.created_at,
  };
}

const ANY = `AND f.head_ready_at <= now() AND f.head_ready_at >= coalesce(${CLAIM_FLOOR}, '-infinity')`;
const amongRuns = (runIds: string, threadIds: string) => `
  AND f.thread_id = ANY(${threadIds}::uuid[] || ARRAY(SELECT n.thread_id FROM run n WHERE n.run_id = ANY(${runIds}::uuid[])))
  AND (r.run_id = ANY(${runIds}::uuid[]) OR r.thread_id = ANY(${threadIds}::uuid[]))`;
/** The headers of keys have two lengths, by their kind. */
const notEncryptedWith = (headers: string) => `
  AND NOT (substring(r.kwargs FOR 5) = ANY(${headers}::bytea[]) OR substring(r.kwargs FOR 17) = ANY(${headers}::bytea[]))`;

const claimStatement = (condition: string) => `
  WITH picked AS (
    SELECT r.run_id, r.thread_id, ${NEXT_EPOCH} AS epoch, f.epoch = 0 AS is_first
    -- Read as a table so that it is evaluated before the commit it is about.
    FROM (SELECT set_config('synchronous_commit', 'off', true)) AS lax,
         thread_fence f JOIN run r ON r.run_id = ${nextRunId('f.thread_id')}
    WHERE f.run_id IS NULL AND r.ready_at <= now()
      -- Looked up only when one is met.
      AND (NOT r.is_suspect OR r.run_id = ANY (ARRAY(
             SELECT s.run_id FROM run s WHERE s.status = 'pending' AND s.is_suspect AND s.ready_at <= now()
             ORDER BY s.ready_at, s.seq LIMIT $7)))
      ${condition}
      -- One that was started outside the fence. OFFSET keeps it a look per thread, at the index by thread.
      AND NOT EXISTS (SELECT 1 FROM run b WHERE b.thread_id = f.thread_id AND b.status = 'running' OFFSET 0)
      AND EXISTS (SELECT 1 FROM worker w, deployment d
                  WHERE w.worker_id = $1 AND w.lease_until > now() AND NOT w.is_draining AND d.halt_reason IS NULL
                    AND ${IS_ACTIVE_REVISION})
    ORDER BY f.head_ready_at
    LIMIT $2
    FOR UPDATE OF f SKIP LOCKED
  ), taken AS (
    UPDATE run r
    SET status = 'running', attempt = r.attempt + 1, epoch = picked.epoch, worker_id = $1,
        started_at = clock_timestamp(), updated_at = clock_timestamp()
    FROM picked
    -- Written so that only the primary key serves it: statistics of a moment without waiting runs promise that an index
    -- of all of them has one entry.
    WHERE r.run_id = picked.run_id AND (r.status = 'pending' AND r.ready_at <= now()) IS TRUE
    RETURNING r.*, picked.is_first, (SELECT w.revision_id FROM worker w WHERE w.worker_id = $1) AS revision_id
  ), fenced AS (
    UPDATE thread_fence f SET epoch = taken.epoch, run_id = taken.run_id FROM taken WHERE f.thread_id = taken.thread_id
  ), announced AS (${insertEvents('taken', 3, ['attempt', 'revision_id'])}
  )
  SELECT run_id, thread_id, assistant_id, attempt, keeps_thread, metadata, kwargs, epoch, created_at, is_suspect,
         (extract(epoch FROM clock_timestamp() - lost_at) * 1000)::float8 AS lost_for_ms,
         (SELECT bool_or(b.is_enforced) FROM run_budget m JOIN budget b USING (budget_id)
          WHERE m.run_id = taken.run_id) AS is_stopped_by_budgets,
         -- Whoever writes checkpoints takes the fence first, which is read as it is when it is locked. Threads that begin
         -- with some, such as copies, have them before they have runs.
         is_first AND NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.thread_id = taken.thread_id) AS is_thread_new
  FROM taken ORDER BY ready_at, seq`;
