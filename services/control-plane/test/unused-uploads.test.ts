import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
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

let objects: Set<string>;
let isAway: boolean;
let uploads: Uploads;
beforeEach(() => {
  objects = new Set();
  isAway = false;
  const storage = {
    async remove(path: string) {
      if (isAway) throw new Error('the storage is away');
      objects.delete(path);
    },
  } as ObjectStorage;
  uploads = new Uploads({
    prisma: database.prisma,
    storage,
    signatures: new UploadSignatures(randomBytes(32).toString('base64')),
    publicUrl: 'https://agents.example.com',
    ttlSeconds: 60,
    revisionsKept: 2,
    scratchDir: tmpdir(),
    quota: { check: async () => undefined },
    sweepDuty: { isMine: async () => true, release: async () => undefined },
    logger: silentLogger,
  });
});

/** A deployment with these archives, which were uploaded long ago. */
async function deploymentWith(paths: string[]): Promise<string> {
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
  const made = { deploymentId, expiresAt: new Date(Date.now() - 1_000), bytes: 5 };
  for (const path of paths) objects.add(path);
  await database.prisma.sourceUpload.createMany({
    data: paths.map((objectPath) => ({ id: randomUUID(), objectPath, ...made })),
  });
  return deploymentId;
}

it('an archive that could not be removed is removed later, and no revision may name it meanwhile', async () => {
  const deploymentId = await deploymentWith(['one', 'two']);
  const left = () => database.prisma.sourceUpload.findMany({ where: { deploymentId } });
  isAway = true;
  await expect(uploads.removeUnused()).rejects.toThrow('away');
  expect((await left()).map(({ bytes }) => bytes)).toEqual([null, null]);
  isAway = false;
  await uploads.removeUnused();
  expect([[...objects], await left()]).toEqual([[], []]);
});

it('archives are kept for the newest revisions, the one that serves and what is under way, and not for older ones', async () => {
  const statuses = ['DEPLOYED', 'DEPLOYED', 'BUILD_FAILED', 'BUILDING', 'DEPLOYED', 'DEPLOYED'];
  const paths = statuses.map((_, index) => `archive of ${index + 1}`);
  const deploymentId = await deploymentWith([...paths, 'archive of none']);
  const revisions = statuses.map((status, index) => ({
    id: randomUUID(),
    deploymentId,
    number: index + 1,
    status,
    source: 'internal_source',
    sourceConfig: {},
    // The third was deployed again from the first's.
    sourceRevisionConfig: { source_tarball_path: paths[index === 2 ? 0 : index]! },
  }));
  await database.prisma.revision.createMany({ data: revisions });
  const data = { activeRevisionId: revisions[1]!.id, latestRevisionId: revisions[5]!.id };
  await database.prisma.deployment.update({ where: { id: deploymentId }, data });
  await uploads.removeUnused();
  expect([...objects]).toEqual(['archive of 2', 'archive of 4', 'archive of 5', 'archive of 6']);
  await database.prisma.deployment.update({ where: { id: deploymentId }, data: { activeRevisionId: null } });
  await uploads.removeUnused();
  expect([...objects]).toEqual(['archive of 4', 'archive of 5', 'archive of 6']);
});
