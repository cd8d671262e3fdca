import { Lease, LeasedTask, leaseMsFor } from '@runyard/leases';
import type { ThreadRetentionSettings } from '@runyard/project';
import { type DeletedThread, FIRST_SLICE, type RunEngine } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import type { SweepMetrics } from '../meta/sweep-metrics.ts';

/**
 * Deletes or prunes expired threads at the start and then at every interval, until none is left; one process of the
 * deployment does it at a time. Each round also goes through a slice of the tables for rows whose thread is deleted.
 */
export function createThreadSweeper(options: {
  engine: Pick<RunEngine, 'histories'>;
  pool: pg.Pool;
  settings: ThreadRetentionSettings;
  /** Called when threads were deleted, with their runs. */
  onDeleted: (threads: DeletedThread[]) => void;
  metrics: Pick<SweepMetrics, 'swept'>;
  logger: Logger;
}): LeasedTask {
  const { pool, onDeleted, metrics, logger } = options;
  const { histories } = options.engine;
  const { sweepEveryMs: everyMs, sweepLimit: limit } = options.settings;
  let orphans = FIRST_SLICE;
  return new LeasedTask({
    lease: new Lease(pool, { name: 'thread sweep', leaseMs: leaseMsFor(everyMs) }),
    everyMs,
    atStart: true,
    async run(task) {
      for (let mayHaveMore = true; mayHaveMore && (await task.mayContinue()); ) {
        const { deleted, prunedIds, ...round } = await histories.expire(limit);
        ({ mayHaveMore } = round);
        if (deleted.length > 0) onDeleted(deleted);
        metrics.swept.inc({ what: 'expired' }, deleted.length);
        metrics.swept.inc({ what: 'pruned' }, prunedIds.length);
        const done = { deleted: deleted.length, pruned: prunedIds.length };
        if (done.deleted + done.pruned > 0) logger.info('expired threads swept', done);
      }
      orphans = await histories.removeOrphans(orphans);
      metrics.swept.inc({ what: 'orphans' }, orphans.removed);
      if (orphans.removed > 0) logger.warn('orphaned rows removed', { rows: orphans.removed });
    },
    logger,
  });
}
