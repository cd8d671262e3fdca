import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/database/database.ts';
import type { ObjectStorage } from '../src/object-storage/object-storage.ts';
import { UploadSignatures } from '../src/sources/uploads/upload-signatures.ts';
import { Uploads } from '../src/sources/uploads/uploads.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: testDatabase.url, poolSize: 2, migrationsDir });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.close();
});

it('an archive that could not be removed is removed later, and no revision may name it meanwhile', async () => {
  const objects = new Set(['one', 'two']);
  let isAway = true;
  const storage = {
    async remove(path: string) {
      if (isAway) throw new Error('the storage is away');
      objects.delete(path);
    },
  } as ObjectStorage;
  const uploads = new Uploads({
    prisma: database.prisma,
    storage,
    signatures: new UploadSignatures(randomBytes(32).toString('base64')),
    publicUrl: 'https://agents.example.com',
    ttlSeconds: 60,
    scratchDir: tmpdir(),
    sweepDuty: { isMine: async () => true, release: async () => undefined },
    logger: silentLogger,
  });
  const deploymentId = randomUUID();
  await database.prisma.deployment.create({
    data: {
      id: deploymentId,
      organizationId: randomUUID(),
      workspaceId: randomUUID(),
      name: deploymentId,
      slug: deploymentId,
      source: 'internal_source',
      sourceConfig: {},
      sourceRevisionConfig: {},
      status: 'UNUSED',
      latestRevisionId: randomUUID(),
      createdBy: randomUUID(),
    },
  });
  const expiresAt = new Date(Date.now() - 1_000);
  const made = { deploymentId, expiresAt, bytes: 5 };
  await database.prisma.sourceUpload.createMany({
    data: [...objects].map((objectPath) => ({ id: randomUUID(), objectPath, ...made })),
  });

  await expect(uploads.removeUnused()).rejects.toThrow('away');
  const left = await database.prisma.sourceUpload.findMany();
  expect(left.map(({ bytes }) => bytes)).toEqual([null, null]);
  isAway = false;
  await uploads.removeUnused();
  expect([[...objects], await database.prisma.sourceUpload.count()]).toEqual([[], 0]);
});
