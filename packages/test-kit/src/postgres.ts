import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { applyMigrations } from '@runyard/database';
import pg from 'pg';
import { testServerAddress } from './environment.ts';
import { uniqueName } from './unique-name.ts';

export interface TestDatabase {
  /** Connection string of a database that only the caller uses. */
  url: string;
  name: string;
  /** Ends every connection to the database and drops it. */
  close(): Promise<void>;
}

/** Template databases that this process knows to be complete. */
const readyTemplates = new Map<string, Promise<string>>();

/**
 * Creates a fresh database with the migrations of a folder (Prisma's layout). They run once per content of the folder,
 * in a template database that stays on the server. Each call clones it, which takes some 50 ms for any schema. Without
 * a folder the database is empty.
 */
export async function createTestDatabase(migrationsDir?: string): Promise<TestDatabase> {
  const template = migrationsDir ? await templateFor(resolve(migrationsDir)) : 'template1';
  const name = `runyard_test_${uniqueName(8)}`;
  await onServer((client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return {
    url: databaseUrl(name),
    name,
    close: () => onServer(async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

function templateFor(migrationsDir: string): Promise<string> {
  let template = readyTemplates.get(migrationsDir);
  if (!template) {
    template = makeTemplate(migrationsDir);
    readyTemplates.set(migrationsDir, template);
  }
  return template;
}

async function makeTemplate(migrationsDir: string): Promise<string> {
  const name = `runyard_template_${await hashOf(migrationsDir)}`;
  const building = `${name}_building`;
  await onServer(async (client) => {
    // Other test processes need the same template: one makes it, the others wait here. The lock is released with the
    // connection.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return;
    await client.query(`DROP DATABASE IF EXISTS ${building} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${building}`);
    await applyMigrations(databaseUrl(building), migrationsDir);
    // The rename marks the template as complete: an incomplete one is never cloned, and nobody connects to a complete
    // one.
    await client.query(`ALTER DATABASE ${building} RENAME TO ${name}`);
  });
  return name;
}

async function hashOf(migrationsDir: string): Promise<string> {
  const hash = createHash('sha256');
  const folders = (await readdir(migrationsDir, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    hash.update(name).update(await readFile(join(migrationsDir, name, 'migration.sql')));
  }
  return hash.digest('hex').slice(0, 16);
}

function databaseUrl(database: string): string {
  const url = new URL(testServerAddress('postgres'));
  url.pathname = `/${database}`;
  return url.href;
}

function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withDatabaseClient(testServerAddress('postgres'), work);
}

/** Runs work on a database with a separate connection. */
export async function withDatabaseClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'runyard-test-kit' });
  client.on('error', () => {}); // The statement in flight reports it; without a listener it would end the process.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns everything in a database as text, to show what is not in it. */
export function dumpDatabase(url: string): Promise<string> {
  return withDatabaseClient(url, async (client) => {
    const tables = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  });
}
