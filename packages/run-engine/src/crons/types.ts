import type { SealingError } from '@runyard/sealing';
import type { CancelledRun, CreateRun, RunRecord } from '../runs/types.ts';

/** Runs made at times that a schedule says. */
export interface CronRecord {
  cronId: string;
  assistantId: string;
  /** Null: each firing has a thread of its own. */
  threadId: string | null;
  /** Who made it; empty when nobody in particular. */
  userId: string;
  schedule: string;
  /** Null: UTC. */
  timezone: string | null;
  /** No slot after it. */
  endTime: Date | null;
  enabled: boolean;
  /** What becomes of the thread of a firing; null when the cron has a thread. */
  onRunCompleted: 'delete' | 'keep' | null;
  /** What its runs are created with. */
  payload: Record<string, unknown>;
  metadata: Record<string, unknown>;
  /** The next slot; null when there is none any more. */
  nextRunDate: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Why `payload` is empty: it cannot be decrypted here. */
  fault?: SealingError;
}

/** A cron with its assistant as it is when the slot fires. */
export interface DueCron extends CronRecord {
  assistant: {
    assistantId: string;
    graphId: string;
    config: Record<string, unknown>;
    context: Record<string, unknown>;
    metadata: Record<string, unknown>;
    isSystem: boolean;
  };
}

export interface FireCrons {
  /** Crons whose assistant has another graph wait for a process that knows it. */
  graphIds: readonly string[];
  /** The run of a slot. What it throws is the cron's fault: its slot is spent without a run. */
  toRun(cron: DueCron): CreateRun;
}

/** What became of a slot. */
export interface FiredSlot {
  cronId: string;
  slot: Date;
  /** Absent: no run was made; `refusal` says why, unless the slot had its run already. */
  run?: RunRecord;
  refusal?: Error;
  /** Runs of the cron's thread that gave way. */
  cancelled: CancelledRun[];
}
