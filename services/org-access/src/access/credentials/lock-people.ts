import type { Prisma } from '../../generated/client.ts';

/**
 * Lets what opens sessions of people, what ends them, and what changes with what they sign in happen one after the other.
 * Whoever locks identities too locks them before; rows of credentials, tokens and sessions are locked afterwards.
 */
export async function lockPeople(transaction: Prisma.TransactionClient, personIds: readonly string[]): Promise<void> {
  // Others may add rows that refer to a person meanwhile, and then lock the person themselves.
  await transaction.$queryRaw`
    SELECT id FROM person WHERE id = ANY(${[...personIds]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
}

/** Like `lockPeople`, for one person. */
export function lockPerson(transaction: Prisma.TransactionClient, personId: string): Promise<void> {
  return lockPeople(transaction, [personId]);
}
