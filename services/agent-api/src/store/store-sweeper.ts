import type { PostgresStore } from '@runyard/checkpointer';
import { LeasedTask, type TaskLease } from '@runyard/leases';
import type { Logger } from '@runyard/service-kit';

/** Items deleted by one statement. */
const BATCH = 1_000;

/** Deletes expired items at the start and then at every interval; one process of the deployment does it at a time. */
export function createStoreSweeper(options: {
  store: Pick<PostgresStore, 'deleteExpired'>;
  lease: TaskLease;
  logger: Logger;
  everyMs: number;
}): LeasedTask {
  const { store, lease, logger, everyMs } = options;
  return new LeasedTask({
    lease,
    everyMs,
    atStart: true,
    async run(task) {
      let deleted = 0;
      let last = BATCH;
      while (last === BATCH && (await task.mayContinue())) {
        last = await store.deleteExpired(BATCH);
        deleted += last;
      }
      if (deleted > 0) logger.info('expired store items deleted', { deleted });
    },
    logger,
  });
}
