import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';
import { MIGRATIONS } from './deployment-database.ts';

/**
 * Opens a fresh database of a deployment on a Postgres with pgvector, which few machines have. It is the same server
 * compiled to WebAssembly, in this process, with a single connection.
 */
export async function openVectorDatabase(): Promise<{ pool: pg.Pool; close(): Promise<void> }> {
  const server = await PGlite.create({ extensions: { vector } });
  const folders = (await readdir(MIGRATIONS, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  for (const name of folders.map((folder) => folder.name).sort()) {
    const script = await readFile(join(MIGRATIONS, name, 'migration.sql'), 'utf8');
    // Each script runs as one statement, which `CONCURRENTLY` does not allow; nobody else writes here.
    await server.exec(script.replaceAll(' CONCURRENTLY', ''));
  }
  const pool = new pg.Pool(createPgConfig(server) as unknown as pg.PoolConfig);
  return {
    pool,
    async close() {
      await pool.end();
      await server.close();
    },
  };
}
