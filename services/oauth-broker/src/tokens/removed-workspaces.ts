import type { Logger, Tenant } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { Revocations } from '../providers/revocations.ts';
import { tokenStore } from './token-store.ts';

interface Dependencies {
  database: Database;
  revocations: Revocations;
  logger: Logger;
}

/**
 * Deletes what a deleted workspace has of the broker: authorizations begun for it, the connections of its agents, and
 * the tokens that nobody else can use, which are revoked. Tokens of people stay: they belong to the organization.
 */
export async function removeWorkspace({ database, revocations, logger }: Dependencies, tenant: Tenant): Promise<void> {
  const { prisma } = database;
  await prisma.oAuthFlow.deleteMany({ where: tenant });
  const tokens = await tokenStore.listForWorkspaceAlone(prisma, tenant);
  // A crash in between leaves tokens that are revoked again in the next round.
  const { failed } = await revocations.revokeAll(tokens);
  const deleted = await tokenStore.delete(
    prisma,
    tokens.map(({ id }) => id),
  );
  await prisma.agentConnection.deleteMany({ where: tenant });
  if (deleted > 0) {
    logger.info('OAuth tokens deleted with their workspace', { workspaceId: tenant.workspaceId, deleted, failed });
  }
}
