import { claimKey, onPg, releaseKeys, settleKeys } from '@runyard/idempotency';
import type pg from 'pg';
import type { KeyedThread } from '../types.ts';

/**
 * Creates a thread in the caller's transaction and binds the idempotency key of its request. When `make` returns
 * undefined, there is no answer, and the key stays free.
 *
 * @throws KeyTakenError
 */
export async function underKey<Made>(
  client: pg.ClientBase,
  keyed: KeyedThread | undefined,
  make: () => Promise<Made>,
): Promise<Made> {
  if (!keyed) return make();
  await claimKey(onPg(client), keyed.request);
  const made = await make();
  if (made === undefined) await releaseKeys(onPg(client), [keyed.request]);
  else await bindKey(client, keyed);
  return made;
}

/**
 * Binds a key that was claimed earlier to the thread as it is now. @throws KeyTakenError when another attempt has taken
 * over
 */
export async function bindKey(client: pg.ClientBase, { request, answerOf }: KeyedThread): Promise<void> {
  await settleKeys(onPg(client), [{ request, answer: await answerOf(client) }]);
}
