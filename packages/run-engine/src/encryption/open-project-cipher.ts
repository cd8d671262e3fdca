import { openPool } from '@runyard/database';
import { DataKeys, type EncryptionVariables, type KeyHandlers, ProjectCipher } from '@runyard/encryption';
import { PostgresDataKeys } from './postgres-data-keys.ts';

export interface ProjectCipherOptions extends EncryptionVariables {
  /** The database of the deployment. */
  connectionString: string;
  /** Name of the connections in `pg_stat_activity`. */
  applicationName: string;
  /** False behind poolers that keep no prepared statements. Default true. */
  preparedStatements?: boolean;
  handlers: KeyHandlers;
  /** Is called with what the handlers, or the table of keys, failed with. */
  onFailure(error: unknown): void;
}

/** Connections of a process for data keys: others may all wait for one. */
const CONNECTIONS = 1;
/** Milliseconds. A transaction may wait for the statement. */
const STATEMENT_MS = 5_000;

/**
 * Opens the cipher of a project that encrypts its data itself, on connections of its own. It encrypts nothing before
 * `open` of the cipher has resolved.
 *
 * @throws EncryptionError for invalid variables
 */
export function openProjectCipher({
  connectionString,
  applicationName,
  preparedStatements = true,
  handlers,
  onFailure,
  ...variables
}: ProjectCipherOptions): {
  cipher: ProjectCipher;
  close(): Promise<void>;
} {
  const pool = openPool({
    connectionString,
    applicationName,
    preparedStatements,
    max: CONNECTIONS,
    statementTimeoutMs: STATEMENT_MS,
    onConnectionLost: onFailure,
  });
  const keys = new DataKeys({ store: new PostgresDataKeys(pool), handlers, onFailure });
  return { cipher: new ProjectCipher(keys, variables, onFailure), close: () => pool.end() };
}
