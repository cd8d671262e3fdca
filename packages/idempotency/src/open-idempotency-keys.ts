import type { ServiceContext } from '@runyard/service-kit';
import { IdempotencyKeys, type IdempotencyKeysOptions } from './idempotency-keys.ts';
import { createKeySweeper } from './key-sweeper.ts';

/** Opens a service's idempotency keys, and deletes expired ones while it runs. */
export function openIdempotencyKeys(
  options: IdempotencyKeysOptions,
  { lifecycle, logger }: ServiceContext,
): IdempotencyKeys {
  const sweeper = createKeySweeper({ pool: options.pool, logger });
  sweeper.start();
  lifecycle.onStop('idempotency keys', () => sweeper.stop());
  return new IdempotencyKeys(options);
}
