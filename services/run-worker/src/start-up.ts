import { setTimeout as pause } from 'node:timers/promises';
import { poolUse } from '@runyard/database';
import type { RunWakeups } from '@runyard/run-engine';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';

const RETRY_MS = 1_000;

/** Postgres may come up, or get its schema, after the worker: it waits for it instead of crashing in a circle. */
export async function untilAvailable(
  attempt: () => Promise<void>,
  { logger, lifecycle }: ServiceContext,
): Promise<void> {
  while (!lifecycle.stopping.aborted) {
    try {
      return await attempt();
    } catch (error) {
      logger.warn('waiting for the database', { error });
      await pause(RETRY_MS);
    }
  }
}

/** Says at the start what would only hurt later: too few connections on the server, a Redis that forgets. */
export async function warnAboutServers(
  { wakeups, pool }: { wakeups: Pick<RunWakeups, 'complaints'>; pool: pg.Pool },
  { logger }: ServiceContext,
): Promise<void> {
  const { rows } = await pool.query<{ max: string }>(`SELECT current_setting('max_connections') AS max`);
  logger.info('database connections', { ofThisWorkerMax: poolUse(pool).max, ofServerMax: Number(rows[0]!.max) });
  // Not waited for: Redis may be away.
  wakeups.complaints().then(
    (complaints) => {
      for (const complaint of complaints) logger.warn(complaint);
    },
    () => undefined,
  );
}
