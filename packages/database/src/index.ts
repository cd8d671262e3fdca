/**
 * Postgres for every service.
 *
 * - `openPool`, `checkPooler`: pools that survive the server, with time limits on statements and idle transactions.
 * - `ReadLimits`, `limitOperations`, `underCurrentLimits`: how many connections, and how much time, the reads of callers get.
 * - `withoutBeforeRows`: a statement that many callers share, whose rows are returned before the pool prepares them.
 * - `countedValues`: a statement that fails where its rows are more than its caller takes.
 * - `withTransaction`: one piece of work, one transaction; deadlocks are retried on request.
 * - `applyMigrations`: Prisma's folder format and bookkeeping, safe with many processes at once.
 * - `runMigrations`: the whole of a service's command that migrates and ends.
 * - `GroupCommitter`: many callers' writes in common transactions; one caller's data does not fail another's.
 * - `toSqlText`, `toSqlJson`: text and JSON that Postgres accepts, even from graphs that emit U+0000.
 * - `toUuid`: a text of unknown origin as a `uuid`, or NULL.
 * - `isoTime`: a time as text, to the microsecond.
 * - `containsAny`: the condition that a document contains one of several objects.
 * - `openServiceDatabase`, `takeAdvisoryLock`: a service's own database, migrated, with its Prisma client and beside it.
 * - `mapDatabaseOutages`: an unavailable database as a 503 that a caller can act on.
 * - `refuseUnstorableText`: text that Postgres cannot keep as a 422.
 * - `sqlState`, `isRetryable`, `isDataError`, `isForeignKeyViolation`, `isUnavailable`, `isTimeoutOrOutOfMemory`, `isLockTimeout`,
 * `isConnectionLost`, `mayBeFaultOfOneItem`, `isPoolBusy`: the kind of failure of an error.
 */
export { checkPooler } from './check-pooler.ts';
export { withoutBeforeRows } from './client-before-rows.ts';
export { containsAny } from './contains-any.ts';
export { countedValues } from './counted-values.ts';
export { CommitRefusedError, type FlushReport, GroupCommitter } from './group-committer.ts';
export { isoTime } from './iso-time.ts';
export { limitOperations } from './limit-operations.ts';
export { applyMigrations } from './migrations.ts';
export { mapDatabaseOutages, toUnavailableError } from './outages.ts';
export { isPoolBusy, openPool, readPoolStats } from './pool.ts';
export { reportDeploymentPoolMetrics, reportPoolMetrics } from './pool-metrics.ts';
export { ReadLimits, underCurrentLimits } from './read-limits.ts';
export * from './retry-start-step.ts';
export { rowsWithinBytes, type SizedRows, toSizedRows } from './rows-within-bytes.ts';
export { runMigrations } from './run-migrations.ts';
export {
  openServiceDatabase,
  type ServiceDatabase,
  type ServiceDatabaseOptions,
  takeAdvisoryLock,
} from './service-database.ts';
export {
  isConnectionLost,
  isDataError,
  isForeignKeyViolation,
  isLockTimeout,
  isRetryable,
  isTimeoutOrOutOfMemory,
  isUnavailable,
  mayBeFaultOfOneItem,
  sqlState,
} from './sql-errors.ts';
export { toSqlJson, toSqlText, toSqlValue } from './sql-text.ts';
export { toUuid } from './to-uuid.ts';
export { repeatDeadlocks, type TransactionOptions, withTransaction } from './transaction.ts';
export { refuseUnstorableText } from './unstorable-text.ts';
