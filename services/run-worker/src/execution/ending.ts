import type { ExecutionOutcome, LossCause } from '@runyard/host-client';
import type { ErrorInfo, FinishRun, RunRelease } from '@runyard/run-engine';
import type { CrashAttribution } from '../hosts/supervised-host.ts';

/** Why an attempt was stopped from outside. */
export type StopReason =
  | { kind: 'cancelled'; reason: string }
  | { kind: 'timedOut'; reason: string }
  | { kind: 'drained' }
  /** A budget is used up. */
  | { kind: 'exhausted'; reason: string }
  | { kind: 'lost' };

/** The change to be written for an ended attempt. */
export type Ending =
  | ({ kind: 'finish' } & Omit<FinishRun, 'fence' | 'runId' | 'firstEventId'>)
  /** The run is pending again. */
  | { kind: 'release'; release: RunRelease }
  /** Nothing is written, because the run has another owner. */
  | { kind: 'drop' };

/**
 * Returns what an attempt's outcome means for its run. What the host reports is believed over what it was told to do: a
 * run that ended before an abort reached it has ended well (a durable cancel order still wins, in the run engine).
 */
export function decideEnding(
  outcome: ExecutionOutcome,
  stop: StopReason | undefined,
  { timeoutSeconds, attribution }: { timeoutSeconds: number; attribution: CrashAttribution },
): Ending {
  if (stop?.kind === 'lost') return { kind: 'drop' };
  switch (outcome.kind) {
    case 'done': {
      const { values, interrupts, next, checkpointId } = outcome;
      const threadStatus = next.length > 0 || interrupts !== null ? 'interrupted' : 'idle';
      return { kind: 'finish', status: 'success', threadStatus, values, interrupts, checkpointId, error: null };
    }
    case 'failed': {
      return failWith(outcome, outcome.error);
    }
    case 'aborted': {
      const { values, interrupts, checkpointId } = outcome;
      if (stop?.kind === 'drained') return HANDED_BACK;
      if (stop?.kind === 'timedOut') {
        const message = `The run took longer than ${timeoutSeconds} seconds.`;
        return failWith(outcome, { error: 'TimeoutError', message });
      }
      return interruptAt({ values, interrupts, checkpointId });
    }
    case 'drained':
      if (stop?.kind === 'exhausted') return interruptAt({ values: null, interrupts: null, checkpointId: null });
      // Without a stop of the worker, the run had no host, or not its turn there.
      return stop?.kind === 'drained' ? HANDED_BACK : { kind: 'release', release: {} };
    case 'fenced':
      return { kind: 'drop' };
    case 'lost':
      return { kind: 'release', release: toRelease(outcome, attribution) };
  }
}

const HANDED_BACK: Ending = { kind: 'release', release: { isDrained: true } };

/** Milliseconds until a run is tried again whose data the project did not encrypt. */
const ENCRYPTION_RETRY_MS = 10_000;

/** The error name of a lost attempt, for the message when the run is given up. */
const LOSS_ERRORS: Record<LossCause, string> = {
  storage: 'StorageUnavailable',
  exited: 'GraphHostLost',
  outOfMemory: 'GraphHostOutOfMemory',
  unresponsive: 'GraphHostUnresponsive',
  slowStorage: 'StorageTooSlow',
  encryption: 'EncryptionUnavailable',
  missingKey: 'EncryptionKeyUnavailable',
  undeliverable: 'EventsUndeliverable',
};

function toRelease(
  { cause, reason }: Extract<ExecutionOutcome, { kind: 'lost' }>,
  attribution: CrashAttribution,
): RunRelease {
  const failure = { error: LOSS_ERRORS[cause], message: reason };
  // An outage of storage says nothing about the run.
  if (cause === 'storage') return { cause: failure };
  // Nor does a key that this worker does not have, or not now.
  if (cause === 'missingKey') return { awaitsKey: 'duringExecution', cause: failure };
  // Handlers of the project that failed are not asked again at once.
  if (cause === 'encryption') return { failure, delayMs: ENCRYPTION_RETRY_MS };
  if (cause === 'slowStorage' || cause === 'undeliverable' || attribution === 'sole') return { failure };
  return attribution === 'shared' ? { isQuarantined: true, cause: failure } : { cause: failure };
}

/** Ends a run that may be gone on with, from what it has reached; nulls leave the thread's state as it is. */
function interruptAt(
  reached: Pick<Extract<ExecutionOutcome, { kind: 'aborted' }>, 'values' | 'interrupts' | 'checkpointId'>,
): Ending {
  return { kind: 'finish', status: 'interrupted', threadStatus: 'interrupted', ...reached, error: null };
}

function failWith(
  { values, interrupts, checkpointId }: Extract<ExecutionOutcome, { kind: 'failed' | 'aborted' }>,
  error: ErrorInfo,
): Ending {
  return { kind: 'finish', status: 'error', threadStatus: 'error', values, interrupts, checkpointId, error };
}
