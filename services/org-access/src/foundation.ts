import { fileURLToPath } from 'node:url';
import { TOPICS } from '@runyard/contracts';
import { reportPoolMetrics, retryStartStep } from '@runyard/database';
import { Cipher, createDataCipher } from '@runyard/encryption';
import { createEventBus, type EventBus, OutboxRelay } from '@runyard/event-bus';
import { type IdempotencyKeys, openIdempotencyKeys } from '@runyard/idempotency';
import { InternalClient, type ServiceContext, toEventBusConfig } from '@runyard/service-kit';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './database/database.ts';

/** The path is valid from `src/` and from `dist/`. */
export const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** control-plane answers within milliseconds or not at all. */
const CONTROL_PLANE_TIMEOUT_MS = 2_000;

/** The parts that every area of the service is opened with. */
export interface Foundation {
  config: Config;
  context: ServiceContext;
  database: Database;
  /** Committed events go there. */
  bus: EventBus;
  cipher: Cipher;
  /** Kept answers of requests that carry an idempotency key. */
  keys: IdempotencyKeys;
  /** Null where the installation has none. */
  controlPlane: InternalClient | null;
}

/** Opens the database, and the bus to which committed events go. */
export async function openFoundation(config: Config, context: ServiceContext): Promise<Foundation> {
  const { lifecycle, logger, metrics } = context;
  const open = () =>
    openDatabase({
      connectionString: config.DATABASE_URI,
      poolSize: config.DATABASE_POOL_SIZE,
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      migrationsDir,
    });
  const database = await retryStartStep(open, context);
  lifecycle.onStop('database', () => database.close());
  const { pool } = database;
  reportPoolMetrics(pool, metrics);

  const bus = createEventBus(toEventBusConfig(config, 'runyard-org-access'), context);
  lifecycle.onStop('event bus', () => bus.close());
  const topics = [TOPICS.organizations.name, TOPICS.audit.name];
  const relay = new OutboxRelay({ pool, bus, topics, logger, metrics });
  relay.start();
  database.onCommit(() => relay.wake());
  lifecycle.onStop('outbox relay', () => relay.stop());

  const keys = openIdempotencyKeys(
    {
      pool,
      cipher: createDataCipher(config.ENCRYPTION_KEY),
      keptHours: config.IDEMPOTENCY_KEY_RETENTION_HOURS,
      validationErrors: 'list',
    },
    context,
  );
  const cipher = new Cipher(config.ENCRYPTION_KEY);
  return { config, context, database, bus, cipher, keys, controlPlane: openControlPlane(config) };
}

function openControlPlane({ CONTROL_PLANE_URL: url, INTERNAL_TOKEN: internalToken }: Config): InternalClient | null {
  if (!url) return null;
  return new InternalClient({ service: 'control-plane', url, internalToken, timeoutMs: CONTROL_PLANE_TIMEOUT_MS });
}
