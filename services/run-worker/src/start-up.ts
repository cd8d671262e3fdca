import { poolUse } from '@runyard/database';
import type { RunWakeups } from '@runyard/run-engine';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';

/** Says at the start what would only hurt later: too few connections on the server, a Redis that forgets. */
export function warnAboutServers(
  { wakeups, pool }: { wakeups: Pick<RunWakeups, 'complaints'>; pool: pg.Pool },
  { logger }: ServiceContext,
): void {
  // Not waited for: either server may be away.
  pool.query<{ max: string }>(`SELECT current_setting('max_connections') AS max`).then(
    ({ rows }) => {
      logger.info('database connections', { ofThisWorkerMax: poolUse(pool).max, ofServerMax: Number(rows[0]!.max) });
    },
    () => undefined,
  );
  wakeups.complaints().then(
    (complaints) => {
      for (const complaint of complaints) logger.warn(complaint);
    },
    () => undefined,
  );
}
