import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { StoredBytes } from '@runyard/contracts';
import { RegistryService } from '@runyard/image-registry';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/database/database.ts';
import { StorageQuota } from '../src/storage-quota/storage-quota.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: testDatabase.url, poolSize: 4, migrationsDir });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.close();
});

async function deploymentIn(workspaceId: string): Promise<string> {
  const id = randomUUID();
  const source = { source: 'internal_source', sourceConfig: {}, sourceRevisionConfig: {}, status: 'UNUSED' };
  const place = { organizationId: randomUUID(), workspaceId, createdBy: randomUUID() };
  await database.prisma.deployment.create({
    data: { id, name: id, slug: id, latestRevisionId: randomUUID(), ...source, ...place },
  });
  return id;
}

const uploaded = (deploymentId: string, bytes: number | null) =>
  database.prisma.sourceUpload.create({
    data: { id: randomUUID(), deploymentId, objectPath: randomUUID(), expiresAt: new Date(), bytes },
  });

const built = (deploymentId: string, bytes: number) =>
  database.prisma.buildArchive.create({ data: { deploymentId, key: randomUUID(), bytes } });

const CONFIG = {
  STORAGE_MAX_BYTES_PER_DEPLOYMENT: 1000,
  STORAGE_MAX_BYTES_PER_WORKSPACE: 1500,
  DISK_MIN_FREE_BYTES: 0,
  DATA_DIR: tmpdir(),
};
const quotaOf = (config: object = {}, images: Partial<StoredBytes> = {}) =>
  new StorageQuota({
    pool: database.pool,
    config: { ...CONFIG, ...config },
    images: { count: async () => ({ deployment: 0, workspace: 0, platform: 0, ...images }) },
  });

it('archives of builds count with the sources of their deployment and their workspace', async () => {
  const workspace = randomUUID();
  const [one, other] = [await deploymentIn(workspace), await deploymentIn(workspace)];
  await uploaded(one, 300);
  await built(one, 500);
  await built(one, 100);
  expect(await quotaOf().limitsOf(one, workspace)).toMatchObject({ sources: { deployment: 900, workspace: 900 } });
  await expect(quotaOf().check(other, 601)).rejects.toMatchObject({ status: 507 });
});

describe('uploaded sources', () => {
  it('have a limit for a deployment, together with its images', async () => {
    const id = await deploymentIn(randomUUID());
    await uploaded(id, 300);
    await uploaded(id, null);
    const quota = quotaOf({}, { deployment: 400, workspace: 400 });
    await quota.check(id, 300);
    await expect(quota.check(id, 301)).rejects.toMatchObject({
      status: 507,
      message:
        'There is no room for it: sources, builds and images of this deployment take 700 bytes, of 1000 that they may.',
    });
  });

  it('have a limit for a workspace, independent of others', async () => {
    const workspace = randomUUID();
    const [one, other] = [await deploymentIn(workspace), await deploymentIn(workspace)];
    await uploaded(one, 900);
    await uploaded(await deploymentIn(randomUUID()), 900);
    await quotaOf().check(other, 600);
    await expect(quotaOf().check(other, 601)).rejects.toThrow(
      'sources, builds and images of this workspace take 900 bytes',
    );
  });

  it('have a limit for the platform and for the disk, whose message says nothing of others', async () => {
    const id = await deploymentIn(randomUUID());
    await uploaded(id, 1);
    for (const config of [{ STORAGE_MAX_BYTES: 1 }, { DISK_MIN_FREE_BYTES: Number.MAX_SAFE_INTEGER }]) {
      await expect(quotaOf(config).check(id, 1)).rejects.toThrow('the storage of the platform is full.');
    }
  });

  it('are refused for a while when nobody knows what the images take', async () => {
    const id = await deploymentIn(randomUUID());
    const images = new RegistryService({ url: 'http://127.0.0.1:9', internalToken: 'the platform speaks' });
    const quota = new StorageQuota({ pool: database.pool, config: CONFIG, images });
    await expect(quota.check(id, 1)).rejects.toMatchObject({ status: 503, code: 'registry_unavailable' });
  });
});
