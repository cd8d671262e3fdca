import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@runyard/test-kit';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createDatabases } from './databases.ts';

const prefix = `runyard_test_${randomBytes(4).toString('hex')}_`;
const work = mkdtempSync(join(tmpdir(), 'runyard-databases-'));
afterAll(() => rmSync(work, { recursive: true }));

function dataFolder(): string {
  const folder = mkdtempSync(join(work, 'data-'));
  mkdirSync(join(folder, 'secrets'));
  return folder;
}

const names = ['one-service', 'other-service'] as const;

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('createDatabases', () => {
  afterEach(async () => {
    const admin = await createTestDatabase();
    for (const name of names.map((given) => `${prefix}${given.replaceAll('-', '_')}`)) {
      await query(admin.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await query(admin.url, `DROP ROLE IF EXISTS ${name}`);
    }
    await admin.close();
  });

  it('creates for each service a database that no other service can enter, and finds it again', async () => {
    const admin = await createTestDatabase();
    const dataDir = dataFolder();
    const options = { adminUrl: admin.url, dataDir, prefix, names };
    const first = await createDatabases(options);
    await query(first['one-service'], 'CREATE TABLE mine AS SELECT 1 AS value');
    expect(await createDatabases(options)).toEqual(first);
    expect(await query(first['one-service'], 'SELECT value FROM mine')).toEqual([{ value: 1 }]);

    const foreign = new URL(first['other-service']);
    foreign.pathname = new URL(first['one-service']).pathname;
    await expect(query(foreign.href, 'SELECT 1')).rejects.toThrow(/permission denied for database/);

    // The data folder is new on a kept server: it has other passwords and the same data.
    const second = await createDatabases({ ...options, dataDir: dataFolder() });
    expect(await query(second['one-service'], 'SELECT value FROM mine')).toEqual([{ value: 1 }]);
    await admin.close();
  });
});
