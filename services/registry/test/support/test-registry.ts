import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { RegistryTokens } from '@runyard/image-registry';
import { FolderStorage, ObjectRemovals, type ObjectStorage } from '@runyard/object-storage';
import { createApp, createContext, listen, silentLogger } from '@runyard/service-kit';
import { createTestDatabase, digestOf, ImageClient } from '@runyard/test-kit';
import { INTERNAL_TOKEN } from '@runyard/test-kit/fake-platform';
import type { BaseImageSettings } from '../../src/base-images/open-base-image.ts';
import { Blobs } from '../../src/blobs/blobs.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { imageRoutes } from '../../src/image-routes.ts';
import { projectImageRoutes } from '../../src/project-images/project-image-routes.ts';
import type { ProjectImages } from '../../src/project-images/project-images.ts';
import { openRegistry } from '../../src/registry.ts';
import { StorageQuota } from '../../src/storage-quota/storage-quota.ts';
import type { PartStorage } from '../../src/stored-images/blob-parts.ts';
import { BASE_LAYERS } from '../../src/stored-images/image-owner.ts';
import type { RegistryStore } from '../../src/stored-images/registry-store.ts';
import { FakeDeployments } from './fake-deployments.ts';

export const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** A deployment with the repository and the client to push to. */
export interface PushedTo {
  id: string;
  repository: string;
  push: ImageClient;
}

/** Opens the removals of a single process, which has the lease of the sweep. */
export function openRemovals(database: Database, objects: Pick<ObjectStorage, 'remove'>): ObjectRemovals {
  const lease = { name: 'object removals', isMine: async () => true, release: async () => undefined };
  return new ObjectRemovals({ database, objects, lease, logger: silentLogger });
}

type Parts = Pick<
  TestRegistry,
  'store' | 'quota' | 'deployments' | 'tokens' | 'database' | 'storage' | 'folder' | 'origin' | 'openProjectImages'
>;

/** Runs only what image tools see, on a database and a folder of its own, beside a fake of control-plane. */
export class TestRegistry {
  readonly store!: RegistryStore;
  readonly quota!: StorageQuota;
  readonly deployments!: FakeDeployments;
  readonly tokens!: RegistryTokens;
  readonly database!: Database;
  readonly storage!: PartStorage & { removals: ObjectRemovals };
  readonly folder!: string;
  readonly origin!: string;
  /** Makes images of projects, here, on another base. */
  readonly openProjectImages!: (baseImage: BaseImageSettings) => ProjectImages;
  readonly #close: () => Promise<void>;

  private constructor(parts: Parts, close: () => Promise<void>) {
    Object.assign(this, parts);
    this.#close = close;
  }

  /** @param options.limits of requests, as environment variables @param options.max in place of the usual limits */
  static async open(options: {
    blobLimitBytes: number;
    limits?: object;
    max?: Partial<FakeDeployments['max']>;
    minFreeBytes?: number;
    revisionsKept?: number;
    baseImage?: BaseImageSettings;
  }): Promise<TestRegistry> {
    const testDatabase = await createTestDatabase(migrationsDir);
    const database = await openDatabase({ connectionString: testDatabase.url, poolSize: 4, migrationsDir });
    const folder = await mkdtemp(join(tmpdir(), 'runyard-registry-'));
    const objects = new FolderStorage(join(folder, 'objects'));
    const storage = { objects, removals: openRemovals(database, objects), temporaryFolder: join(folder, 'temporary') };
    const tokens = new RegistryTokens(INTERNAL_TOKEN);
    const max = { deployment: 3_000_000, workspace: 10_000_000, platform: null, ...options.max };
    const deployments = new FakeDeployments({ max, revisionsKept: options.revisionsKept ?? 50 });
    const disk = { folder, minFreeBytes: options.minFreeBytes ?? 0 };
    const quota = new StorageQuota({ pool: database.pool, disk });
    const context = createContext('registry', { LOG_LEVEL: 'error', processMetrics: false, ...options.limits });
    const openOn = (baseImage: BaseImageSettings) =>
      openRegistry({
        ...{ database, storage, tokens, quota, baseImage },
        controlPlane: deployments,
        url: 'https://agents.example.com',
        blobLimitBytes: options.blobLimitBytes,
        lifecycle: context.lifecycle,
      });
    const { handler, store, projectImages } = openOn(options.baseImage ?? {});
    const openProjectImages = (baseImage: BaseImageSettings) => openOn(baseImage).projectImages;
    const operations = [...imageRoutes({ store, objects, quota }), ...projectImageRoutes(projectImages)];
    const app = createApp({ context, operations, internalToken: INTERNAL_TOKEN, before: [handler] });
    const here = { host: '127.0.0.1', port: 0, isAuxiliary: true, drainMs: 0 };
    const { url: origin } = await listen(app, { ...here, context });
    const parts = { store, quota, deployments, tokens, database, storage, folder, origin, openProjectImages };
    return new TestRegistry(parts, async () => {
      await context.lifecycle.stop('test');
      await database.close();
      await testDatabase.close();
      await rm(folder, { recursive: true, force: true });
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  async deployment(source = 'internal_docker', workspaceId: string = randomUUID()): Promise<PushedTo> {
    const id = this.deployments.add(source, workspaceId);
    return { id, repository: `registry/${id}/agent`, push: this.client(id, true) };
  }

  /** Creates revisions of images, the oldest first. @param versions `@<digest>` or `:<tag>` */
  async deployed({ id, repository }: PushedTo, versions: string[]): Promise<void> {
    const images = versions.map((version) => `agents.example.com/${repository}${version}`);
    this.deployments.deploy(id, images);
  }

  /** Stores a layer of a base image, as it is fetched for an image of a project. */
  async storeBaseLayer(layer: Buffer): Promise<void> {
    const { store, storage, quota } = this;
    const blobs = new Blobs({ store, storage, quota, limitBytes: layer.length });
    await blobs.store(BASE_LAYERS, Readable.from([layer]), digestOf(layer));
  }

  /** Sends what control-plane asks. */
  async ask(path: string, question: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${INTERNAL_TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(this.origin + path, { method: 'POST', headers, body: JSON.stringify(question) });
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  /** Removes a deployment's images as control-plane does when it deletes the deployment. */
  async remove(id: string): Promise<void> {
    this.deployments.delete(id);
    await this.ask('/internal/images/remove', { deployment_id: id });
  }

  client(deploymentId: string, mayPush: boolean, name?: string): ImageClient {
    return new ImageClient(this.origin, this.tokens.issue({ deploymentId, mayPush, name }, 60_000));
  }
}

/** Returns the status and the code of an error. */
export async function errorOf(answer: Response): Promise<readonly [number, string | undefined]> {
  return [answer.status, ((await answer.json()) as { errors: { code: string }[] }).errors[0]?.code];
}
