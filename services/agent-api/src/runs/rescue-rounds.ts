import { Lease, LeasedTask } from '@runyard/leases';
import type { RunEngine } from '@runyard/run-engine';
import type pg from 'pg';
import type { SweepMetrics } from '../meta/sweep-metrics.ts';
import { notifyEnded, type RunEndParts } from '../streams/notify-ended.ts';
import { StateRefresher } from '../threads/state-refresher.ts';
import type { StateService } from '../threads/state-service.ts';

const EVERY_MS = 2_000;
/**
 * Short, so that another process takes over within seconds when the lease owner ends: clients wait for cancelled runs.
 */
const LEASE_MS = 3 * EVERY_MS;
/** Stuck threads are looked for every so many rounds. */
const ROUNDS_PER_MEND = 30;

export interface RescueRoundsOptions extends Omit<RunEndParts, 'engine'> {
  engine: Pick<RunEngine, 'currentEpoch'> & {
    rescue: Pick<RunEngine['rescue'], 'hasWork' | 'endCancelled' | 'findOutdatedStates' | 'repairThreads'>;
    removals: Pick<RunEngine['removals'], 'removeNext'>;
  };
  state: Pick<StateService, 'refresh'>;
  pool: pg.Pool;
  metrics: Pick<SweepMetrics, 'swept' | 'cancelLatency'>;
  /** Default 2 s. */
  everyMs?: number;
}

/**
 * Ends runs that were cancelled and whose worker is lost, so that cancelling needs no worker; one process of the
 * deployment does it at a time. It also rereads the state of threads whose newest checkpoint was written by a process
 * that died before storing the thread's values, removes what deleted long threads have left, and once a minute frees
 * threads that nothing else would ever free.
 */
export function createRescueRounds(options: RescueRoundsOptions): LeasedTask {
  const { engine, state, pool, metrics, logger, everyMs = EVERY_MS } = options;
  const refresher = new StateRefresher({ state, logger });
  let rounds = 0;
  const isRepairRound = () => rounds % ROUNDS_PER_MEND === 1;
  let isRemoving = false;
  /** Runs in the background: the end of a cancelled run does not wait for it. */
  const removeLeftovers = async (task: LeasedTask) => {
    if (isRemoving) return;
    isRemoving = true;
    try {
      while ((await task.mayContinue()) && (await engine.removals.removeNext()));
    } catch (error) {
      logger.warn('removing rows of deleted threads failed, will retry', { error });
    } finally {
      isRemoving = false;
    }
  };
  return new LeasedTask({
    lease: new Lease(pool, { name: 'run rescue', leaseMs: LEASE_MS }),
    everyMs,
    async isNeeded() {
      rounds += 1;
      return isRepairRound() || (await engine.rescue.hasWork());
    },
    async run(task) {
      const ended = await engine.rescue.endCancelled();
      metrics.swept.inc({ what: 'cancelled' }, ended.length);
      for (const { cancelledForMs } of ended)
        if (cancelledForMs !== null) metrics.cancelLatency.observe(cancelledForMs);
      await notifyEnded(options, ended);
      refresher.begin(await engine.rescue.findOutdatedStates());
      void removeLeftovers(task);
      if (!isRepairRound()) return;
      const threadIds = await engine.rescue.repairThreads();
      metrics.swept.inc({ what: 'mended' }, threadIds.length);
      if (threadIds.length > 0) logger.error('stuck threads freed', { threadIds });
    },
    logger,
  });
}
