import { claimKey, onPrisma, type RawTransaction, settleKeys } from './key-claims.ts';
import type { KeyedRequest } from './keyed-request.ts';

/**
 * Creates in a Prisma transaction. For a keyed request, the result of the work, which is the body of the answer, is
 * stored with the key in the same transaction.
 *
 * @throws KeyTakenError
 */
export async function creating<Transaction extends RawTransaction, Made>(
  transaction: Transaction,
  keyed: KeyedRequest | undefined,
  work: (transaction: Transaction) => Promise<Made>,
): Promise<Made> {
  if (!keyed) return work(transaction);
  const queries = onPrisma(transaction);
  await claimKey(queries, keyed);
  const made = await work(transaction);
  await settleKeys(queries, [{ request: keyed, answer: made }]);
  return made;
}
