import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Signatures } from '@runyard/encryption';
import { type ObjectRemovals, ObjectStorageUnavailableError } from '@runyard/object-storage';
import { InsufficientStorageError, silentLogger } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase, type Queries } from '../src/database/database.ts';
import { uploadStore } from '../src/sources/uploads/upload-store.ts';
import { checkUploaded, signedTextOf, Uploads } from '../src/sources/uploads/uploads.ts';
import { openRemovals } from './support/object-removals.ts';

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

let objects: Set<string>;
let isAway: boolean;
/** Called before an archive is stored. */
let beforePut: () => Promise<void>;
let removals: ObjectRemovals;
let uploads: Uploads;
const signatures = new Signatures(randomBytes(32).toString('base64'), 'upload url v1');
beforeEach(() => {
  objects = new Set();
  isAway = false;
  beforePut = async () => undefined;
  const storage = {
    async put(path: string) {
      await beforePut();
      objects.add(path);
    },
    async remove(path: string) {
      if (isAway) throw new ObjectStorageUnavailableError(new Error('away'));
      objects.delete(path);
    },
  };
  removals = openRemovals(database, storage);
  uploads = new Uploads({
    database,
    storage,
    removals,
    signatures,
    publicUrl: 'https://agents.example.com',
    ttlSeconds: 60,
    revisionsKept: 2,
    temporaryFolder: tmpdir(),
    quota: {
      check: async () => undefined,
      findRoom: async () => ({
        bytes: Number.POSITIVE_INFINITY,
        refusal: new InsufficientStorageError('no room', { code: 'storage_quota_exceeded' }),
      }),
    },
    disk: { folder: tmpdir(), minFreeBytes: 0 },
    sweepLease: { name: 'uploads sweep', isMine: async () => true, release: async () => undefined },
    logger: silentLogger,
  });
});

/** Creates a deployment with these archives, which were uploaded long ago. */
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
  await uploads.removeUnused();
  expect([[...objects], await left()]).toEqual([['one', 'two'], []]);
  await expect(checkUploaded(database.prisma, deploymentId, 'one')).rejects.toThrow('that is still kept');
  isAway = false;
  await removals.sweep();
  expect([...objects]).toEqual([]);
});

const receive = async (deploymentId: string) => {
  const { id: uploadId } = await database.prisma.sourceUpload.findFirstOrThrow({ where: { deploymentId } });
  const grant = { uploadId, expires: Math.floor(Date.now() / 1000) + 60 };
  const headers = { 'content-type': 'application/gzip' };
  const req = Object.assign(Readable.from([Buffer.from('archive')]), { headers }) as unknown as IncomingMessage;
  return uploads.receive(grant, signatures.sign(signedTextOf(grant)), req, () => undefined);
};

it('no revision names an archive while another one is stored in its place', async () => {
  const deploymentId = await deploymentWith(['replaced']);
  let named: unknown;
  beforePut = async () => {
    named = await checkUploaded(database.prisma, deploymentId, 'replaced').catch((error: Error) => error.message);
  };
  await receive(deploymentId);
  expect(named).toContain('names an upload that was not made');
  await checkUploaded(database.prisma, deploymentId, 'replaced');
});

it('one archive of an upload is stored at a time, so that none arrives after a revision names the other', async () => {
  const deploymentId = await deploymentWith(['twice']);
  let second: Promise<unknown> | undefined;
  beforePut = async () => {
    beforePut = async () => undefined;
    second = receive(deploymentId).catch((error: Error) => error.message);
    await second;
  };
  await receive(deploymentId);
  expect(await second).toContain('is being stored');
  // One that could not be stored keeps nobody out.
  beforePut = async () => {
    throw new ObjectStorageUnavailableError(new Error('away'));
  };
  await expect(receive(deploymentId)).rejects.toThrow(ObjectStorageUnavailableError);
  beforePut = async () => undefined;
  await receive(deploymentId);
});

it('an archive that arrives while its upload is withdrawn is removed, and the client gets an error', async () => {
  const deploymentId = await deploymentWith(['late']);
  beforePut = () => uploads.removeUnused();
  await expect(receive(deploymentId)).rejects.toThrow('This upload URL is not valid, or has expired.');
  expect([...objects]).toEqual([]);
});

describe('a revision that is created while its archive expires', () => {
  const makeRevision = (transaction: Queries, deploymentId: string, path: string) =>
    transaction.revision.create({
      data: {
        id: randomUUID(),
        deploymentId,
        number: 1,
        status: 'CREATING',
        source: 'internal_source',
        sourceConfig: {},
        sourceRevisionConfig: { source_tarball_path: path },
      },
    });

  it('keeps the archive if it was first', async () => {
    const deploymentId = await deploymentWith(['named', 'not named']);
    await database.transact(async (transaction) => {
      await checkUploaded(transaction, deploymentId, 'named');
      await makeRevision(transaction, deploymentId, 'named');
      await uploads.removeUnused();
    });
    await uploads.removeUnused();
    expect([...objects]).toEqual(['named']);
  });

  it('is refused if the archive was withdrawn first', async () => {
    const deploymentId = await deploymentWith(['going']);
    const isWaiting = async () => {
      const { rowCount } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rowCount === 1;
    };
    let naming: Promise<unknown> | undefined;
    await database.transact(async (transaction) => {
      expect(await uploadStore.withdrawUnused(transaction, { newest: 2, limit: 10 })).toEqual(['going']);
      naming = database
        .transact((other) => checkUploaded(other, deploymentId, 'going'))
        .catch((error: unknown) => (error as Error).message);
      await waitFor(isWaiting, { what: 'a revision that waits for the archive' });
    });
    expect(await naming).toContain('that is still kept');
  });
});

it('archives of the newest, the serving and unfinished revisions are kept, and those of older ones are not', async () => {
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
    // The third revision is a redeployment of the first.
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
