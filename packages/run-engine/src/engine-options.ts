import type { AtRest } from '@runyard/sealing';
import type pg from 'pg';
import type { ThreadTtl } from './threads/types.ts';

export interface RunEngineOptions {
  pool: pg.Pool;
  deploymentId: string;
  /** Names the process in events, for example `/runyard/agent-api`. */
  source: string;
  /** How long a worker's runs stay its own without a renewal. Default 10 s. */
  leaseMs?: number;
  /** Failed attempts after which a run is given up (BG_JOB_MAX_RETRIES). Default 3. */
  maxFailures?: number;
  /** How long results stay on their runs. Default one hour. */
  resultTtlMs?: number;
  /** Of threads that are created without one of their own, also by runs. Default: they are kept. */
  threadTtl?: ThreadTtl;
  /** How arguments, results and state are kept in the database. Default: as they are. */
  atRest?: AtRest;
  /** Called after a commit that wrote outbox rows, to let a relay in this process publish at once. */
  onOutboxWritten?: () => void;
  /** Monotonic milliseconds of this process. */
  now?: () => number;
  /** Called when who lost a thread tried to write a status or a state. */
  onStaleWrite?: () => void;
  /** Called for a thread whose run could not be taken back from a lost worker. It is tried again, and held up no other. */
  onTakeBackFailure?: (threadId: string, error: unknown) => void;
  /** Called after a commit that queued webhooks, to wake whoever sends them. May be called once too often. */
  onWebhooksQueued?: () => void;
}
