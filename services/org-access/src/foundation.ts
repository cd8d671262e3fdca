import type { Cipher } from '@runyard/encryption';
import type { IdempotencyKeys } from '@runyard/idempotency';
import type { ServiceContext } from '@runyard/service-kit';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';

/** The parts that every area of the service is opened with. */
export interface Foundation {
  config: Config;
  context: ServiceContext;
  database: Database;
  cipher: Cipher;
  /** Kept answers of requests that carry an idempotency key. */
  keys: IdempotencyKeys;
}
