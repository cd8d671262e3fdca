import { fileURLToPath } from 'node:url';
import { retryStartStep } from '@runyard/database';
import { Cipher, createDataCipher } from '@runyard/encryption';
import { createEventBus, type EventBus, OutboxRelay } from '@runyard/event-bus';
import { openIdempotencyKeys } from '@runyard/idempotency';
import { type ServiceContext, toEventBusConfig } from '@runyard/service-kit';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import type { Foundation } from './foundation.ts';

/** The path is valid from `src/` and from `dist/`. */
const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Opens the database, and the bus to which committed events go. */
export async function openFoundation(
  config: Config,
  context: ServiceContext,
): Promise<{ foundation: Foundation; bus: EventBus }> {
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

  const bus = createEventBus(toEventBusConfig(config, 'runyard-org-access'), context);
  lifecycle.onStop('event bus', () => bus.close());
  const relay = new OutboxRelay({ pool, bus, logger, metrics });
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
  return { foundation: { config, context, database, cipher: new Cipher(config.ENCRYPTION_KEY), keys }, bus };
}
