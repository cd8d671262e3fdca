import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Migration {
  /** The folder's name; migrations are applied in the order of their names. */
  name: string;
  sql: string;
  /** SHA-256 of the file in hex, as Prisma computes it. */
  checksum: string;
  /** False for scripts that say so: each statement is executed separately, and the script must be safe to repeat. */
  inTransaction: boolean;
}

const NO_TRANSACTION = /^--\s*runyard:\s*no transaction\s*$/m;

/** Reads `<directory>/<name>/migration.sql` of every folder; ignores other files (`migration_lock.toml`). */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const folders = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const names = folders.map((folder) => folder.name).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: checksumOf(sql), inTransaction: !NO_TRANSACTION.test(sql) };
    }),
  );
}

/** Returns whether the stored checksum is this script's; changed line endings of a checkout do not matter. */
export function matchesChecksum(migration: Migration, checksum: string): boolean {
  if (migration.checksum === checksum) return true;
  const unix = migration.sql.replaceAll('\r\n', '\n');
  return checksumOf(unix) === checksum || checksumOf(unix.replaceAll('\n', '\r\n')) === checksum;
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}
