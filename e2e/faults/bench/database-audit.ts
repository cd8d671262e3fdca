import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import type { BenchRun } from './deployment.ts';
import type { Ledger } from './ledger.ts';

/** A status change of a run's row, in the order of change. `null` means that the row was created, or deleted. */
export interface StatusChange {
  runId: string;
  from: string | null;
  to: string | null;
  attempt: number;
  at: Date;
}

export interface CheckpointRow {
  checkpointId: string;
  parentId: string | null;
  step: number;
  source: string;
}

/**
 * Broken promises of accepted runs, by promise; all are empty when all is well. Each entry names the run and the
 * finding.
 */
export interface Violations {
  notEnded: string[];
  notSuccessful: string[];
  endedTwice: string[];
  stuckThreads: string[];
  lostCheckpoints: string[];
  doubledCheckpoints: string[];
  wrongStates: string[];
  stepsNeverExecuted: string[];
}

const TERMINAL = ['success', 'error', 'timeout', 'interrupted'];

/** Reads the database and the ledger afterwards, bypassing all fault lines. */
export class DatabaseAudit {
  readonly #pool: pg.Pool;
  readonly #ledger: Ledger;
  readonly #cipher: Pick<DataCipher, 'decrypt'>;

  /** @param cipher of a deployment that encrypts its content */
  constructor(pool: pg.Pool, ledger: Ledger, cipher: Pick<DataCipher, 'decrypt'> = NO_ENCRYPTION) {
    this.#pool = pool;
    this.#ledger = ledger;
    this.#cipher = cipher;
  }

  /** Starts to keep every status that a run ever has, overwritten ones too. */
  async watchStatuses(): Promise<void> {
    await this.#pool.query(`
      CREATE TABLE bench_status_change (
        seq bigserial PRIMARY KEY, run_id uuid, old text, new text, attempt integer, at timestamptz DEFAULT clock_timestamp());
      CREATE FUNCTION bench_note_status() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO bench_status_change (run_id, old, new, attempt) VALUES (
          coalesce(NEW.run_id, OLD.run_id), OLD.status, NEW.status, coalesce(NEW.attempt, OLD.attempt));
        RETURN NULL;
      END $$;
      CREATE TRIGGER bench_new_status AFTER INSERT OR DELETE ON run FOR EACH ROW EXECUTE FUNCTION bench_note_status();
      CREATE TRIGGER bench_other_status AFTER UPDATE ON run FOR EACH ROW
        WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION bench_note_status();`);
  }

  async statusChanges(): Promise<StatusChange[]> {
    const { rows } = await this.#pool.query(
      'SELECT run_id AS "runId", old AS "from", new AS "to", attempt, at FROM bench_status_change ORDER BY seq',
    );
    return rows;
  }

  /** Returns checkpoints of the root graph, oldest first. */
  async checkpoints(runId: string): Promise<CheckpointRow[]> {
    const { rows } = await this.#pool.query(
      `SELECT checkpoint_id AS "checkpointId", parent_checkpoint_id AS "parentId", (metadata->>'step')::int AS step,
              metadata->>'source' AS source
       FROM checkpoint WHERE run_id = $1 AND checkpoint_ns = '' ORDER BY checkpoint_id`,
      [runId],
    );
    return rows;
  }

  /** Returns how many runs have not ended. */
  async unfinished(): Promise<number> {
    const { rows } = await this.#pool.query(
      `SELECT count(*)::int AS count FROM run WHERE status IN ('pending', 'running')`,
    );
    return rows[0].count;
  }

  /** Resolves when no run is pending or running. */
  async untilAllEnded(timeoutMs: number): Promise<void> {
    await waitFor(async () => (await this.unfinished()) === 0, {
      timeoutMs,
      intervalMs: 100,
      what: 'the end of all runs',
    });
  }

  /** Checks runs of the ledger graph that were each accepted on a thread of their own and have to succeed. */
  async violations(runs: readonly BenchRun[]): Promise<Violations> {
    const found: Violations = {
      notEnded: [],
      notSuccessful: [],
      endedTwice: [],
      stuckThreads: [],
      lostCheckpoints: [],
      doubledCheckpoints: [],
      wrongStates: [],
      stepsNeverExecuted: [],
    };
    const ids = runs.map(({ runId }) => runId);
    const statuses = await this.#statuses(ids);
    const ends = await this.#timesEnded(ids);
    const steps = await this.#checkpointSteps(ids);
    const states = await this.#states(runs.map(({ threadId }) => threadId));
    const executed = await this.#ledger.byRun();
    for (const run of runs) {
      const { runId } = run;
      const { status, error } = statuses.get(runId) ?? { status: 'missing' };
      if (!TERMINAL.includes(status)) found.notEnded.push(`${runId} is ${status}`);
      if (status !== 'success') found.notSuccessful.push(`${runId} is ${status}: ${JSON.stringify(error)}`);
      if ((ends.get(runId) ?? 0) > 1) found.endedTwice.push(`${runId} ended ${ends.get(runId)} times`);
      const state = states.get(run.threadId);
      if (state?.status !== 'idle') found.stuckThreads.push(`${run.threadId} of ${runId} is ${state?.status}`);
      // The input is step -1, what starts from it step 0, and then each step of the graph has one checkpoint.
      const expected = Array.from({ length: run.steps + 2 }, (_, index) => index - 1);
      const kept = steps.get(runId) ?? [];
      const missing = expected.filter((step) => !kept.includes(step));
      if (missing.length > 0) found.lostCheckpoints.push(`${runId} has no checkpoint of step ${missing.join(', ')}`);
      if (new Set(kept).size !== kept.length) found.doubledCheckpoints.push(`${runId} has ${kept.join(', ')}`);
      const done = JSON.stringify(state?.done ?? null);
      if (done !== JSON.stringify(Array.from({ length: run.steps }, (_, index) => index))) {
        found.wrongStates.push(`${runId} has done ${done}`);
      }
      const executedSteps = new Set(executed.get(runId)?.map(({ step }) => step));
      if (executedSteps.size !== run.steps) {
        found.stepsNeverExecuted.push(`${runId} executed ${executedSteps.size} of ${run.steps} steps`);
      }
    }
    return found;
  }

  async #statuses(runIds: string[]): Promise<Map<string, { status: string; error?: unknown }>> {
    const { rows } = await this.#pool.query('SELECT run_id, status, error FROM run WHERE run_id = ANY($1::uuid[])', [
      runIds,
    ]);
    return new Map(rows.map(({ run_id, status, error }) => [run_id, { status, error: error ?? undefined }]));
  }

  async #timesEnded(runIds: string[]): Promise<Map<string, number>> {
    const { rows } = await this.#pool.query(
      `SELECT run_id, count(*)::int AS count FROM bench_status_change
       WHERE run_id = ANY($1::uuid[]) AND new = ANY($2::text[]) GROUP BY run_id`,
      [runIds, TERMINAL],
    );
    return new Map(rows.map(({ run_id, count }) => [run_id, count]));
  }

  async #checkpointSteps(runIds: string[]): Promise<Map<string, number[]>> {
    const { rows } = await this.#pool.query(
      `SELECT run_id, array_agg((metadata->>'step')::int ORDER BY checkpoint_id) AS steps FROM checkpoint
       WHERE run_id = ANY($1::uuid[]) AND checkpoint_ns = '' GROUP BY run_id`,
      [runIds],
    );
    return new Map(rows.map(({ run_id, steps }) => [run_id, steps]));
  }

  async #states(threadIds: string[]): Promise<Map<string, { status: string; done: number[] | undefined }>> {
    const { rows } = await this.#pool.query(
      `SELECT t.thread_id, t.status, s."values" FROM thread t LEFT JOIN thread_state s USING (thread_id)
       WHERE t.thread_id = ANY($1::uuid[])`,
      [threadIds],
    );
    return new Map(
      rows.map(({ thread_id, status, values }) => [
        thread_id,
        { status, done: values ? JSON.parse(String(this.#cipher.decrypt(values))).done : undefined },
      ]),
    );
  }
}
