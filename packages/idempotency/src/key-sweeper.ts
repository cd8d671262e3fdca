import { Lease, LeasedTask, leaseMsFor } from '@runyard/leases';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { removeExpiredKeys } from './key-claims.ts';

const EVERY_MS = 10 * 60_000;

/** Deletes expired keys in one process of a service at a time. */
export function createKeySweeper({ pool, logger }: { pool: pg.Pool; logger: Logger }): LeasedTask {
  return new LeasedTask({
    lease: new Lease(pool, { name: 'idempotency keys', leaseMs: leaseMsFor(EVERY_MS) }),
    everyMs: EVERY_MS,
    atStart: true,
    run: () => removeExpiredKeys(pool),
    logger,
  });
}
