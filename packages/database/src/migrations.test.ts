import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyMigrations, openPool } from './index.ts';

let database: TestDatabase;
let client: pg.Client;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await client.end();
  await database.close();
  await rm(folder, { recursive: true });
});

async function migration(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'migration.sql'), sql);
}
const apply = () => applyMigrations(database.url, folder);
const rows = async () =>
  (await client.query('SELECT * FROM _prisma_migrations ORDER BY migration_name, started_at')).rows;

describe('applyMigrations', () => {
  it('applies the folders in the order of their names and maintains the table like Prisma', async () => {
    await migration('20260102_second', 'ALTER TABLE a ADD COLUMN y int;');
    await migration('20260101_first', 'CREATE TABLE a (x int); INSERT INTO a VALUES (1);');
    await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"');
    expect(await apply()).toEqual({ applied: ['20260101_first', '20260102_second'] });
    const [first] = await rows();
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: createHash('sha256').update('CREATE TABLE a (x int); INSERT INTO a VALUES (1);').digest('hex'),
      finished_at: expect.any(Date),
      migration_name: '20260101_first',
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
    });
    const { rows: columns } = await client.query(
      `SELECT column_name, data_type, character_maximum_length AS length, is_nullable AS nullable, column_default
       FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`,
    );
    expect(
      columns.map(({ column_name, data_type, length, nullable }) => [column_name, data_type, length, nullable]),
    ).toEqual([
      ['id', 'character varying', 36, 'NO'],
      ['checksum', 'character varying', 64, 'NO'],
      ['finished_at', 'timestamp with time zone', null, 'YES'],
      ['migration_name', 'character varying', 255, 'NO'],
      ['logs', 'text', null, 'YES'],
      ['rolled_back_at', 'timestamp with time zone', null, 'YES'],
      ['started_at', 'timestamp with time zone', null, 'NO'],
      ['applied_steps_count', 'integer', null, 'NO'],
    ]);
  });

  it('applies each once, and later ones when they exist', async () => {
    await migration('1', 'CREATE TABLE a (x int);');
    await apply();
    expect(await apply()).toEqual({ applied: [] });
    await migration('2', 'CREATE TABLE b (x int);');
    expect(await apply()).toEqual({ applied: ['2'] });
  });

  it('with many processes at once applies each migration once and lets all of them go on', async () => {
    await migration('1', 'CREATE TABLE a (x int); SELECT pg_sleep(0.1);');
    await migration('2', 'INSERT INTO a VALUES (1);');
    await migration('3', '-- runyard: no transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_x ON a (x);');
    const results = await Promise.all(Array.from({ length: 8 }, apply));
    expect(results.flatMap(({ applied }) => applied).sort()).toEqual(['1', '2', '3']);
    expect((await client.query('SELECT count(*)::int AS n FROM a')).rows[0].n).toBe(1);
    expect((await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_x'::regclass`)).rows).toEqual([
      { indisvalid: true },
    ]);
  });

  it('refuses a migration that was changed after it had been applied, and applies nothing after it', async () => {
    await migration('1', 'CREATE TABLE a (x int);');
    await apply();
    await migration('1', 'CREATE TABLE a (x bigint);');
    await migration('2', 'CREATE TABLE b (x int);');
    await expect(apply()).rejects.toThrow(/The migration 1 was changed after it had been applied to this database/);
    expect(await rows()).toHaveLength(1);
  });

  it('accepts a script whose line endings a checkout has changed', async () => {
    await migration('1', 'CREATE TABLE a (\n  x int\n);\n');
    await apply();
    await migration('1', 'CREATE TABLE a (\r\n  x int\r\n);\r\n');
    expect(await apply()).toEqual({ applied: [] });
  });

  it('leaves nothing of a failing migration behind, names it, and retries it at the next start', async () => {
    await migration('1', 'CREATE TABLE a (x int);');
    await migration('2', 'CREATE TABLE b (x int); INSERT INTO nowhere VALUES (1);');
    await expect(apply()).rejects.toThrow(/The migration 2 failed: relation "nowhere" does not exist/);
    expect(await rows()).toHaveLength(1);
    expect((await client.query(`SELECT to_regclass('b') AS b`)).rows).toEqual([{ b: null }]);
    await migration('2', 'CREATE TABLE b (x int);');
    expect(await apply()).toEqual({ applied: ['2'] });
  });

  it('records a script outside of a transaction that failed half way like Prisma, and retries it', async () => {
    await migration('1', 'CREATE TABLE a (x int);');
    await migration(
      '2',
      `-- runyard: no transaction
       CREATE TABLE IF NOT EXISTS b (x text DEFAULT 'a;b');
       INSERT INTO c VALUES (1);`,
    );
    await expect(apply()).rejects.toThrow(/The migration 2 failed: relation "c" does not exist/);
    await client.query('CREATE TABLE c (x int)');
    expect(await apply()).toEqual({ applied: ['2'] });
    const [failed, finished] = (await rows()).filter((row) => row.migration_name === '2');
    expect(failed).toMatchObject({ finished_at: null, logs: expect.stringContaining('"c" does not exist') });
    expect(failed.rolled_back_at).toBeInstanceOf(Date);
    expect(finished).toMatchObject({ finished_at: expect.any(Date), rolled_back_at: null, applied_steps_count: 1 });
  });

  it('refuses a migration that another tool began and never finished', async () => {
    await migration('1', 'CREATE TABLE a (x int);');
    await apply();
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
    await expect(apply()).rejects.toThrow(/The migration 1 was started and never finished/);
  });

  it('lets an older version start on a database that a newer one has migrated', async () => {
    await migration('1', 'CREATE TABLE a (x int);');
    await migration('2', 'CREATE TABLE b (x int);');
    await apply();
    await rm(join(folder, '2'), { recursive: true });
    expect(await apply()).toEqual({ applied: [] });
  });

  it('works on a pool of the caller and leaves no changed settings on it', async () => {
    const pool = openPool({
      connectionString: database.url,
      max: 2,
      applicationName: 'test',
      statementTimeoutMs: 4321,
    });
    await migration('1', `SET search_path = pg_catalog; CREATE TABLE public.a (x int);`);
    await applyMigrations(pool, folder);
    expect((await pool.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '4321ms' }]);
    expect((await pool.query('SHOW search_path')).rows).toEqual([{ search_path: '"$user", public' }]);
    await pool.end();
  });

  it('applies the migrations of a deployment', async () => {
    const migrations = new URL('../../run-engine/prisma/migrations', import.meta.url).pathname;
    for (const name of (await readdir(migrations, { withFileTypes: true })).filter((entry) => entry.isDirectory())) {
      await cp(join(migrations, name.name), join(folder, name.name), { recursive: true });
      expect(await readFile(join(folder, name.name, 'migration.sql'), 'utf8')).not.toBe('');
    }
    expect((await apply()).applied.length).toBeGreaterThan(0);
  });
});
