import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../generated/client.ts';

/** The tag keys that every new workspace has. */
const DEFAULT_TAG_KEYS = ['Application', 'Environment'] as const;

/** Gives a new workspace its tag keys. Call it in the transaction that creates the workspace. */
export async function createDefaultTagKeys(
  transaction: Prisma.TransactionClient,
  workspace: { organizationId: string; workspaceId: string },
): Promise<void> {
  await transaction.tagKey.createMany({
    data: DEFAULT_TAG_KEYS.map((key) => ({ ...workspace, id: uuidv7(), key })),
  });
}
