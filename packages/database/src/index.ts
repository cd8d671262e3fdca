/**
 * Postgres as every service uses it.
 *
 * - `openPool`: pools that survive the server, with time limits on statements and idle transactions.
 * - `withTransaction`: one piece of work, one transaction; deadlocks retried on request.
 * - `applyMigrations`: Prisma's folder format and bookkeeping, safe with many processes at once.
 * - `GroupCommitter`: many callers' writes in common transactions, without one caller's data failing another's.
 * - `acquireDuty`, `Duty`: what one process at a time may do, by a lease in the database's time.
 * - `DutyRounds`: such work at every interval.
 * - `toSqlText`, `toSqlJson`: text and JSON that Postgres takes, also from graphs that emit U+0000.
 * - `IdempotencyKeys`: creations that are asked for again are made once, by a key of the caller.
 * - `openServiceDatabase`, `lockFor`: a service's own database, migrated, through its Prisma client and beside it.
 * - `tellingOutages`: a database that is away as the 503 a caller can act on.
 * - `sqlState`, `isRetryable`, `isDataError`, `isUnavailable`, `wasTooMuch`, `wasLocked`, `wasCutOff`, `mayBeOfOneItem`,
 *   `isPoolBusy`: what kind of failure an error is.
 */
export { acquireDuties, acquireDuty, Duty, type DutyClaim, releaseDuty } from './duty.ts';
export { DutyRounds, type DutyRoundsOptions, leaseMsOfRounds } from './duty-rounds.ts';
export { CommitRefusedError, type FlushReport, GroupCommitter, type GroupCommitterOptions } from './group-committer.ts';
export { creating } from './idempotency/creating.ts';
export { bindCreation, IdempotencyKeys } from './idempotency/idempotency-keys.ts';
export {
  type ClaimedKey,
  claimKey,
  claimKeys,
  KeyTakenError,
  onPg,
  releaseKeys,
  settleKeys,
} from './idempotency/key-claims.ts';
export { boundFor, type KeyedRequest } from './idempotency/keyed-request.ts';
export { openKeys } from './idempotency/open-keys.ts';
export { applyMigrations, MigrationError } from './migrations.ts';
export { outageOf, tellingOutages } from './outages.ts';
export { isPoolBusy, openPool, PoolBusyError, type PoolOptions, type PoolUse, poolUse } from './pool.ts';
export { observeDeploymentPools, observePool } from './pool-metrics.ts';
export { lockFor, openServiceDatabase, type ServiceDatabase, type ServiceDatabaseOptions } from './service-database.ts';
export {
  isDataError,
  isRetryable,
  isUnavailable,
  mayBeOfOneItem,
  sqlState,
  wasCutOff,
  wasLocked,
  wasTooMuch,
} from './sql-errors.ts';
export { toSqlJson, toSqlText, toSqlValue } from './sql-text.ts';
export { type TransactionOptions, withTransaction } from './transaction.ts';
export * from './until-available.ts';
