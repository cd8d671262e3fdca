import type { Prisma } from '../generated/client.ts';

/** Stores the encrypted password of a deployment's database unless there is one, and returns the stored one. */
export async function storePassword(
  transaction: Prisma.TransactionClient,
  id: string,
  encrypted: string,
): Promise<string> {
  await transaction.deployment.updateMany({
    where: { id, encryptedDatabasePassword: null },
    data: { encryptedDatabasePassword: encrypted },
  });
  const row = await transaction.deployment.findUniqueOrThrow({ where: { id } });
  return row.encryptedDatabasePassword ?? encrypted;
}
