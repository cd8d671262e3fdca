import type { PostgresStore } from '@runyard/checkpointer';
import { type Duty, DutyRounds } from '@runyard/database';
import type { Logger } from '@runyard/service-kit';

/** Items deleted by one statement. */
const BATCH = 1_000;

/** Deletes expired items at the start and then at every interval; one process of the deployment does it at a time. */
export function createStoreSweeper(options: {
  store: Pick<PostgresStore, 'deleteExpired'>;
  duty: Pick<Duty, 'isMine' | 'release'>;
  logger: Logger;
  everyMs: number;
}): DutyRounds {
  const { store, duty, logger, everyMs } = options;
  return new DutyRounds({
    duty,
    everyMs,
    atStart: true,
    async round(rounds) {
      let deleted = 0;
      let last = BATCH;
      while (last === BATCH && !rounds.isClosing && (await duty.isMine())) {
        last = await store.deleteExpired(BATCH);
        deleted += last;
      }
      if (deleted > 0) logger.info('expired store items deleted', { deleted });
    },
    onError: (error) => logger.warn('deleting expired store items failed, will retry', { error }),
  });
}
