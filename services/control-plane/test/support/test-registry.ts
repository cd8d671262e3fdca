import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cipher } from '@runyard/encryption';
import { FolderStorage, type ObjectRemovals } from '@runyard/object-storage';
import { createApp, createContext, listen } from '@runyard/service-kit';
import { createTestDatabase, ImageClient } from '@runyard/test-kit';
import { type Database, openDatabase } from '../../src/database/database.ts';
import type { PartStorage } from '../../src/registry/blob-parts.ts';
import { openRegistry, type Registry } from '../../src/registry/registry.ts';
import { StorageQuota } from '../../src/storage-quota/storage-quota.ts';
import { openRemovals } from './object-removals.ts';

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

const QUOTA = {
  STORAGE_MAX_BYTES_PER_DEPLOYMENT: 3_000_000,
  STORAGE_MAX_BYTES_PER_WORKSPACE: 10_000_000,
  DISK_MIN_FREE_BYTES: 0,
};

/** A deployment with the repository and the client to push to. */
export interface PushedTo {
  id: string;
  repository: string;
  push: ImageClient;
}

/** Runs only the registry, on a database and a folder of its own. */
export class TestRegistry {
  readonly registry: Registry;
  readonly database: Database;
  readonly storage: PartStorage & { removals: ObjectRemovals };
  readonly folder: string;
  readonly origin: string;
  readonly #close: () => Promise<void>;

  private constructor(
    parts: Pick<TestRegistry, 'registry' | 'database' | 'storage' | 'folder' | 'origin'>,
    close: () => Promise<void>,
  ) {
    this.registry = parts.registry;
    this.database = parts.database;
    this.storage = parts.storage;
    this.folder = parts.folder;
    this.origin = parts.origin;
    this.#close = close;
  }

  /** @param options.limits of requests, as environment variables @param options.quota in place of the usual one */
  static async open(options: {
    blobLimitBytes: number;
    limits?: object;
    quota?: object;
    revisionsKept?: number;
  }): Promise<TestRegistry> {
    const testDatabase = await createTestDatabase(migrationsDir);
    const database = await openDatabase({ connectionString: testDatabase.url, poolSize: 4, migrationsDir });
    const folder = await mkdtemp(join(tmpdir(), 'runyard-registry-'));
    const objects = new FolderStorage(join(folder, 'objects'));
    const storage = { objects, removals: openRemovals(database, objects), temporaryFolder: join(folder, 'temporary') };
    const registry = openRegistry({
      ...storage,
      database,
      cipher: new Cipher(randomBytes(32).toString('base64')),
      url: 'https://agents.example.com',
      quota: new StorageQuota({ pool: database.pool, config: { ...QUOTA, ...options.quota, DATA_DIR: folder } }),
      blobLimitBytes: options.blobLimitBytes,
      revisionsKept: options.revisionsKept ?? 50,
    });
    const context = createContext('registry', { LOG_LEVEL: 'error', processMetrics: false, ...options.limits });
    const app = createApp({ context, operations: [], before: [registry.handler] });
    const here = { host: '127.0.0.1', port: 0, isAuxiliary: true, drainMs: 0 };
    const { url: origin } = await listen(app, { ...here, context });
    return new TestRegistry({ registry, database, storage, folder, origin }, async () => {
      await context.lifecycle.stop('test');
      await database.close();
      await testDatabase.close();
      await rm(folder, { recursive: true, force: true });
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  async deployment(source = 'internal_docker'): Promise<PushedTo> {
    const id = randomUUID();
    await this.database.prisma.deployment.create({
      data: {
        id,
        organizationId: randomUUID(),
        workspaceId: randomUUID(),
        name: id,
        slug: id,
        source,
        sourceConfig: {},
        sourceRevisionConfig: {},
        status: 'UNUSED',
        latestRevisionId: randomUUID(),
        createdBy: randomUUID(),
      },
    });
    return { id, repository: `registry/${id}/agent`, push: this.client(id, true) };
  }

  /** Creates revisions of images, the oldest first. @param versions `@<digest>` or `:<tag>` */
  async deployed({ id, repository }: PushedTo, versions: string[]): Promise<void> {
    await this.database.prisma.revision.createMany({
      data: versions.map((version, index) => ({
        id: randomUUID(),
        deploymentId: id,
        number: index + 1,
        status: 'DEPLOYED',
        source: 'internal_docker',
        sourceConfig: {},
        sourceRevisionConfig: { image_uri: `agents.example.com/${repository}${version}` },
      })),
    });
  }

  client(deploymentId: string, mayPush: boolean): ImageClient {
    return new ImageClient(this.origin, this.registry.tokens.issue({ deploymentId, mayPush }, 60_000));
  }
}

/** Returns the status and the code of an error. */
export async function errorOf(answer: Response): Promise<readonly [number, string | undefined]> {
  return [answer.status, ((await answer.json()) as { errors: { code: string }[] }).errors[0]?.code];
}
