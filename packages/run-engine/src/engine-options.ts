import type { DataCipher } from '@runyard/encryption';
import type pg from 'pg';
import type { ExhaustedBudget } from './budgets/types.ts';
import type { MissingKeyReport } from './runs/missing-keys.ts';
import type { ThreadTtl } from './threads/types.ts';

export interface RunEngineOptions {
  pool: pg.Pool;
  deploymentId: string;
  /** Names the process in events, for example `/runyard/agent-api`. */
  source: string;
  /** Milliseconds for which a worker keeps its runs without renewing its lease. Default 10 s. */
  leaseMs?: number;
  /** Failed attempts after which a run ends in `error` (BG_JOB_MAX_RETRIES). Default 3. */
  maxFailures?: number;
  /** Attempts after which a run ends in `error` whatever ended them (RUN_ATTEMPTS_MAX). Default 100. */
  maxAttempts?: number;
  /** How often a run may be handed back by workers that stop (BG_JOB_MAX_DRAINS). Default 50. */
  maxDrains?: number;
  /** Milliseconds that a run waits after its first, second, … attempt that does not count as failed; then the last. */
  releaseDelaysMs?: readonly number[];
  /** Milliseconds after which a run ends in `error` whose encryption key no worker has got. Default 24 h. */
  keyWaitMs?: number;
  /** Is called when claimed runs wait for a key that this process failed to get, at most every ten seconds. */
  onMissingKey?: (report: MissingKeyReport) => void;
  /** Milliseconds for which results stay on their runs. Default one hour. */
  resultTtlMs?: number;
  /** Number of runs that may wait on one thread. Default 5,000. */
  waitingRunsMax?: number;
  /** The ttl of threads created without their own, also by runs. Default: they are kept. */
  threadTtl?: ThreadTtl;
  /** Encrypts arguments, results and state in the database. Default: no encryption. */
  cipher?: DataCipher;
  /** Is called after a commit that wrote outbox rows, to let a relay in this process publish at once. */
  onOutboxWritten?: () => void;
  /** Monotonic milliseconds of this process. */
  now?: () => number;
  /** Is called when somebody has used a budget up, once in each period. */
  onBudgetExhausted?: (budget: ExhaustedBudget) => void;
  /** Is called when a writer that lost its thread tried to write a status or a state. */
  onStaleWrite?: () => void;
  /**
   * Is called for a thread whose run could not be taken back from a lost worker. The next sweep retries it; other
   * threads do not wait for it.
   */
  onTakeBackFailure?: (threadId: string, error: unknown) => void;
  /**
   * Is called after a commit that queued webhooks, to wake their sender. It may be called when there is nothing new.
   */
  onWebhooksQueued?: () => void;
}
