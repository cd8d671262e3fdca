import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mapDatabaseOutages, reportPoolMetrics, retryStartStep } from '@runyard/database';
import { RegistryTokens } from '@runyard/image-registry';
import {
  AbandonedFiles,
  checkAvailable,
  INCOMING,
  openObjectStorage,
  startObjectRemovals,
} from '@runyard/object-storage';
import {
  createApp,
  InternalClient,
  openEarlyListener,
  PeriodicTask,
  type ServiceContext,
  withMiddleware,
} from '@runyard/service-kit';
import { startImageGarbageCollection } from './collection/image-garbage-collection.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import { ControlPlaneQuestions } from './deployments/control-plane-questions.ts';
import { moveFormerRows } from './former-rows/move-former-rows.ts';
import { imageRoutes } from './image-routes.ts';
import { projectImageRoutes } from './project-images/project-image-routes.ts';
import { openRegistry } from './registry.ts';
import { StorageQuota } from './storage-quota/storage-quota.ts';

/** The path is valid from `src/` and from `dist/`. */
export const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** control-plane answers within milliseconds or not at all. */
const QUESTION_TIMEOUT_MS = 3_000;
/** All revisions of a deployment are read meanwhile, and nobody waits for the answer. */
const COLLECTION_TIMEOUT_MS = 30_000;
/** A page of former rows is read meanwhile. */
const FORMER_ROWS_TIMEOUT_MS = 10_000;
const HOUR_MS = 60 * 60_000;

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const controlPlaneClient = (timeoutMs: number) =>
    new InternalClient({
      service: 'control-plane',
      url: config.CONTROL_PLANE_URL,
      internalToken: config.INTERNAL_TOKEN,
      timeoutMs,
    });
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const open = () =>
    openDatabase({
      connectionString: config.DATABASE_URI,
      poolSize: config.DATABASE_POOL_SIZE,
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      migrationsDir,
    });
  const database = await retryStartStep(open, context);
  lifecycle.onStop('database', () => database.close());
  reportPoolMetrics(database.pool, context.metrics);
  await moveFormerRows({ database, controlPlane: controlPlaneClient(FORMER_ROWS_TIMEOUT_MS) }, context);

  const objects = openObjectStorage(config);
  lifecycle.onStop('object storage', async () => objects.close());
  const leaseOwner = randomUUID();
  const removals = startObjectRemovals({ database, objects, leaseOwner, lifecycle, logger });
  const temporaryFolder = join(config.DATA_DIR, 'registry');
  const { pool } = database;
  const quota = new StorageQuota({
    pool,
    disk: { folder: config.DATA_DIR, minFreeBytes: config.DISK_MIN_FREE_BYTES },
  });
  const controlPlane = new ControlPlaneQuestions(controlPlaneClient(QUESTION_TIMEOUT_MS));
  const { handler, store, projectImages } = openRegistry({
    database,
    storage: { objects, removals, temporaryFolder },
    controlPlane,
    tokens: new RegistryTokens(config.INTERNAL_TOKEN),
    url: config.REGISTRY_URL ?? config.PUBLIC_URL,
    blobLimitBytes: config.REGISTRY_BLOB_LIMIT_BYTES,
    baseImage: config,
    quota,
    lifecycle,
  });
  const abandoned = new AbandonedFiles({ folders: [temporaryFolder, join(config.DATA_DIR, 'objects', INCOMING)] });
  const sweep = new PeriodicTask({
    name: 'abandoned files',
    everyMs: HOUR_MS,
    atStart: true,
    run: () => abandoned.sweep(),
    logger,
  });
  sweep.start();
  lifecycle.onStop('abandoned files', () => sweep.stop());
  startImageGarbageCollection({
    ...{ database, store, removals, leaseOwner, lifecycle, logger },
    controlPlane: new ControlPlaneQuestions(controlPlaneClient(COLLECTION_TIMEOUT_MS)),
  });
  const app = createApp({
    context,
    operations: withMiddleware(
      [...imageRoutes({ store, objects, quota }), ...projectImageRoutes(projectImages)],
      [mapDatabaseOutages],
    ),
    internalToken: config.INTERNAL_TOKEN,
    readiness: {
      database: async () => void (await pool.query('SELECT 1')),
      'object storage': () => checkAvailable(objects, 'registry/none', AbortSignal.timeout(QUESTION_TIMEOUT_MS)),
    },
    before: [handler],
  });
  earlyListener.serve(app);
  lifecycle.ready();
}
