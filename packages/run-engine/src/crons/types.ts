import type { EncryptionError } from '@runyard/encryption';
import type { AcceptedRun, CancelledRun, RunRecord } from '../runs/types.ts';
import type { Scope } from '../scope.ts';

/** Creates runs at the times of a schedule. */
export interface CronRecord {
  cronId: string;
  assistantId: string;
  /** Null: each firing has its own thread. */
  threadId: string | null;
  /** The identity that created it; empty when there is none. */
  userId: string;
  schedule: string;
  /** Null: UTC. */
  timezone: string | null;
  /** The time after which there are no slots. */
  endTime: Date | null;
  enabled: boolean;
  /** The action for the thread of a firing; null when the cron has a thread. */
  onRunCompleted: 'delete' | 'keep' | null;
  /** The fields of the runs it creates. */
  payload: Record<string, unknown>;
  metadata: Record<string, unknown>;
  /** The next slot; null when there is none. */
  nextRunDate: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Why `payload` is empty: it cannot be decrypted here. */
  fault?: EncryptionError;
}

/** The user who made a cron, and what that user was allowed to run then. */
export interface CronCreator {
  /** Left out when it was no user of the project. */
  user?: Record<string, unknown> | undefined;
  /** The threads on which its runs may be, and that see those without a thread. */
  threadScope: Scope;
  assistantScope: Scope;
}

/** A cron with its assistant as it is when the slot fires. */
export interface DueCron extends CronRecord {
  /** Null when nothing bounds its runs. */
  creator: CronCreator | null;
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
  /** A cron whose assistant uses another graph waits for a process that has it. */
  graphIds: readonly string[];
  /**
   * Makes the run of a slot. An error is the cron's fault: its slot passes without a run. An EncryptionError or
   * EncryptionUnavailableError may pass: the slot stays due.
   */
  toRun(cron: DueCron): AcceptedRun;
}

/** Why crons skip their slots: the deployment is halted, or the newest edit of its project does not load. */
export type SkipReason = 'halted' | 'edit_failed';

/** The result of firing a slot. */
export interface FiredSlot {
  cronId: string;
  slot: Date;
  /** Absent: no run was created. Another field says why, unless the slot had its run already. */
  run?: RunRecord;
  refusal?: Error;
  /** Why the slot stays due: this process fires it again a minute later, and another one may sooner. */
  postponement?: Error;
  /** Why the slot passed. */
  skipReason?: SkipReason;
  /** Runs of the cron's thread that were cancelled for the new run. */
  cancelled: CancelledRun[];
}
