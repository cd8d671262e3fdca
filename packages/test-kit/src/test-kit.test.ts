import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from './postgres.ts';
import { testRedis } from './redis.ts';
import { startServiceProcess } from './service-process.ts';
import { waitFor } from './wait-for.ts';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).then(
    (result) => client.end().then(() => result.rows),
    (error) => client.end().then(() => Promise.reject(error)),
  );
}

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'test-kit-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

describe('createTestDatabase', () => {
  it('gives each caller its own database with the migrations applied in order', async () => {
    const migrations = await folderWith({
      '2_second/migration.sql': 'ALTER TABLE shelf ADD COLUMN width int',
      '1_first/migration.sql': 'CREATE TABLE shelf (id int)',
    });
    const [one, two] = await Promise.all([createTestDatabase(migrations), createTestDatabase(migrations)]);
    await query(one.url, 'INSERT INTO shelf (id, width) VALUES (1, 2)');
    expect(await query(one.url, 'SELECT width FROM shelf')).toEqual([{ width: 2 }]);
    expect(await query(two.url, 'SELECT width FROM shelf')).toEqual([]);
    await Promise.all([one.close(), two.close()]);
    await expect(query(one.url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  });

  it('reports a failing migration, and leaves no incomplete template behind', async () => {
    const migrations = await folderWith({ '1_bad/migration.sql': 'CREATE TABEL shelf (id int)' });
    await expect(createTestDatabase(migrations)).rejects.toThrow(/TABEL/);
    await expect(createTestDatabase(migrations)).rejects.toThrow(/TABEL/);
  });
});

describe('testRedis', () => {
  it('removes the keys below its prefix and no others', async () => {
    const [mine, other] = [testRedis(), testRedis()];
    const redis = new Redis(mine.url);
    await redis.mset(`${mine.prefix}:a`, '1', `{${mine.prefix}}:b`, '1', `${other.prefix}:a`, '1');
    await mine.close();
    expect(await redis.keys(`*${mine.prefix}*`)).toEqual([]);
    expect(await redis.get(`${other.prefix}:a`)).toBe('1');
    await other.close();
    redis.disconnect();
  });
});

describe('startServiceProcess', () => {
  const service = `
    import { createServer } from 'node:http';
    import { readFileSync } from 'node:fs';
    import { Socket } from 'node:net';
    const secrets: Record<string, string> = JSON.parse(readFileSync(Number(process.env.RUNYARD_SECRETS_FD), 'utf8'));
    new Socket({ fd: Number(process.env.RUNYARD_PARENT_FD) }).on('close', () => process.exit(3)).resume();
    createServer((req, res) => res.end(secrets.WORD)).listen(Number(process.env.PORT), process.env.HOST);
    process.on('SIGTERM', () => process.exit(0));
  `;

  it('runs TypeScript from source, passes secrets, and stops', async () => {
    const folder = await folderWith({ 'src/main.ts': service });
    const running = await startServiceProcess({ entry: join(folder, 'src/main.ts'), secrets: { WORD: 'open sesame' } });
    expect(await (await fetch(running.url)).text()).toBe('open sesame');
    expect(await running.stop()).toEqual({ code: 0, signal: null });
  });

  it('rejects with the output of a service that ends early', async () => {
    const folder = await folderWith({ 'src/main.ts': `console.error('the cupboard is bare'); process.exit(1);` });
    await expect(startServiceProcess({ entry: join(folder, 'src/main.ts') })).rejects.toThrow(/the cupboard is bare/);
  });
});

describe('waitFor', () => {
  it('returns the value of the condition once it holds, although it threw before', async () => {
    let calls = 0;
    const value = await waitFor(() => {
      calls += 1;
      if (calls < 3) throw new Error('not yet');
      return `call ${calls}`;
    });
    expect(value).toBe('call 3');
  });

  it('throws with the last error as the cause after the time limit', async () => {
    const failing = waitFor(() => Promise.reject(new Error('no luck')), { timeoutMs: 30, what: 'luck' });
    await expect(failing).rejects.toThrow('luck did not hold within 30 ms');
    await failing.catch((error) => expect(error.cause.message).toBe('no luck'));
  });
});
