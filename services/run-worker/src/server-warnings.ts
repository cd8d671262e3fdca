import { readPoolStats } from '@runyard/database';
import type { RunWakeups } from '@runyard/run-engine';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';

/** Warns at the start of what would only hurt later: too few connections on the server, a Redis that evicts keys. */
export function warnAboutServers(
  { wakeups, pools }: { wakeups: Pick<RunWakeups, 'warnings'>; pools: [pg.Pool, ...pg.Pool[]] },
  { logger }: ServiceContext,
): void {
  const ofThisWorkerMax = pools.reduce((sum, pool) => sum + readPoolStats(pool).max, 0);
  // The start does not wait for this: either server may be away.
  pools[0].query<{ max: string }>(`SELECT current_setting('max_connections') AS max`).then(
    ({ rows }) => {
      logger.info('database connections', { ofThisWorkerMax, ofServerMax: Number(rows[0]!.max) });
    },
    () => undefined,
  );
  wakeups.warnings().then(
    (warnings) => {
      for (const warning of warnings) logger.warn(warning);
    },
    () => undefined,
  );
}
