import { claimKey, onPrisma, type RawTransaction, settleKeys } from './key-claims.ts';
import type { KeyedRequest } from './keyed-request.ts';

/**
 * Makes the work of a Prisma transaction create once per key. For a keyed request, the result of the work, which is the
 * body of the answer, is stored with the key in the same transaction, which rejects with a KeyTakenError when the key
 * belongs to another request. Without a key, the work stays as it is.
 */
export function withIdempotencyKey<Transaction extends RawTransaction, Made>(
  keyed: KeyedRequest | undefined,
  work: (transaction: Transaction) => Promise<Made>,
): (transaction: Transaction) => Promise<Made> {
  if (!keyed) return work;
  return async (transaction) => {
    const queries = onPrisma(transaction);
    await claimKey(queries, keyed);
    const made = await work(transaction);
    await settleKeys(queries, [{ request: keyed, answer: made }]);
    return made;
  };
}
