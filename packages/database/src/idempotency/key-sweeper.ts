import { randomUUID } from 'node:crypto';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { Duty } from '../duty.ts';
import { DutyRounds, leaseMsOfRounds } from '../duty-rounds.ts';
import { removeExpiredKeys } from './key-claims.ts';

const EVERY_MS = 10 * 60_000;

/** Deletes expired keys in one process of a service at a time. */
export function createKeySweeper({ pool, logger }: { pool: pg.Pool; logger: Logger }): DutyRounds {
  return new DutyRounds({
    duty: new Duty(pool, { name: 'idempotency keys', holder: randomUUID(), leaseMs: leaseMsOfRounds(EVERY_MS) }),
    everyMs: EVERY_MS,
    atStart: true,
    round: () => removeExpiredKeys(pool),
    onError: (error) => logger.warn('idempotency keys past their time could not be removed', { error }),
  });
}
