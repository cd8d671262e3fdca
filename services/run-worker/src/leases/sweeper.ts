import { isUnavailable } from '@runyard/database';
import type { TaskLease } from '@runyard/leases';
import type { RunEngine, RunWakeups, SweptRun } from '@runyard/run-engine';
import { type AppendEndOptions, appendEnd } from '@runyard/run-stream';
import { type Logger, PeriodicTask } from '@runyard/service-kit';
import { endEvent, errorEvent } from '../streams/run-events.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';

/** The upkeep results for workers that leave it to the lease owner. */
const NO_UPKEEP = { hasUnclaimedRuns: false, removedResults: 0 };
/**
 * A sweep that found threads locked is repeated after this share of the interval. The lock may be that of a worker that
 * stalled in a transaction, which the sweep has just ended.
 */
const LOCKED_SHARE = 0.2;

export interface SweeperOptions extends AppendEndOptions {
  engine: Pick<RunEngine, 'sweep' | 'takeBackLostRuns'>;
  /** The lease of the one worker that also does the upkeep. */
  lease: TaskLease;
  wakeups: Pick<RunWakeups, 'wake'>;
  metrics: Pick<WorkerMetrics, 'exceededAttempts' | 'cancelLatency' | 'swept'>;
  logger: Logger;
  everyMs: number;
  /** Milliseconds between sweeps while no worker has a run: less than a lease has left when its worker claims one. */
  idleEveryMs: number;
  /** Milliseconds between rounds of upkeep (`everyMs`), and while no worker had a run since the last (`idleEveryMs`). */
  upkeep: { everyMs: number; idleEveryMs: number };
  /** Rejects while the database is away. */
  checkDatabase: () => Promise<unknown>;
  /** Milliseconds that workers get to renew after an outage of the database, before lapsed leases count. */
  graceMs: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/**
 * Sweeps: one worker of the deployment at a time wakes workers for unclaimed runs and removes expired results. Every worker
 * takes back the runs of dead ones: the lease owner may be the one that died. While no worker has a run it looks seldom,
 * so that a deployment that nobody uses costs little.
 */
export function createSweeper(options: SweeperOptions): Pick<PeriodicTask, 'start' | 'stop'> {
  const { engine, lease, wakeups, metrics, logger, everyMs, idleEveryMs, upkeep, checkDatabase, graceMs } = options;
  const now = options.now ?? (() => performance.now());
  let wasAway = false;
  let pausedUntil = 0;
  let isIdle = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let upkeptAt = Number.NEGATIVE_INFINITY;
  let retry: NodeJS.Timeout | undefined;
  const sweep = async () => {
    // Nobody could renew while the database was away: a lapsed lease says nothing yet about its worker.
    if (wasAway) {
      await checkDatabase();
      wasAway = false;
      pausedUntil = now() + graceMs;
    }
    const startedAt = now();
    if (startedAt < pausedUntil) return;
    // Half an interval earlier: a timer that fires a little early must not cost a whole one.
    if (isIdle && startedAt < sweptAt + idleEveryMs - everyMs / 2) return;
    sweptAt = startedAt;
    clearTimeout(retry);
    const isUpkeepDue = startedAt >= upkeptAt + (isIdle ? upkeep.idleEveryMs : upkeep.everyMs);
    if (isUpkeepDue) upkeptAt = startedAt;
    const swept =
      isUpkeepDue && (await lease.isMine())
        ? await engine.sweep()
        : { ...NO_UPKEEP, ...(await engine.takeBackLostRuns()) };
    const { resumedRunIds, ended, hasLockedThreads, hasUnclaimedRuns, removedResults } = swept;
    isIdle = !swept.hasRunningRuns && !hasLockedThreads;
    if (hasLockedThreads) retry = setTimeout(() => task.wake(), everyMs * LOCKED_SHARE).unref();
    if (resumedRunIds.length > 0) logger.warn('runs of a lost worker resumed', { runIds: resumedRunIds });
    if (resumedRunIds.length > 0 || hasUnclaimedRuns) wakeups.wake('swept');
    const gaveUp = ended.filter(({ status }) => status === 'error').length;
    metrics.exceededAttempts.inc(gaveUp);
    metrics.swept.inc({ what: 'taken_back' }, resumedRunIds.length);
    metrics.swept.inc({ what: 'given_up' }, gaveUp);
    metrics.swept.inc({ what: 'cancelled' }, ended.length - gaveUp);
    metrics.swept.inc({ what: 'woken' }, hasUnclaimedRuns ? 1 : 0);
    metrics.swept.inc({ what: 'results_removed' }, removedResults);
    for (const { cancelledForMs } of ended) if (cancelledForMs !== null) metrics.cancelLatency.observe(cancelledForMs);
    await Promise.all(ended.map((run) => publishEnd(options, run)));
  };
  const task = new PeriodicTask({
    name: 'run sweep',
    everyMs,
    // A worker often starts because another one died.
    atStart: true,
    run: () =>
      sweep().catch((error: unknown) => {
        wasAway ||= isUnavailable(error);
        throw error;
      }),
    logger,
  });
  return {
    start: () => task.start(),
    async stop() {
      clearTimeout(retry);
      await task.stop();
      await lease.release().catch(() => undefined);
    },
  };
}

async function publishEnd(
  options: SweeperOptions,
  { fence, status, error, cancelledForMs: _ms, ...run }: SweptRun,
): Promise<void> {
  const streamed = { ...run, fence, isResumable: false };
  const end = endEvent(streamed, status, null);
  await appendEnd(options, streamed, error ? [errorEvent(streamed, error), end] : [end]).catch((cause) =>
    options.logger.warn('run end not published', { runId: run.runId, error: cause }),
  );
}
