import { conforms, IdentityRemoved } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { IdentityReach } from '../identity-reach.ts';
import { endFlows } from '../providers/end-flows.ts';
import type { Revocations } from '../providers/revocations.ts';
import { type TokenOwner, tokenStore } from './token-store.ts';

interface Dependencies {
  database: Database;
  reach: Pick<IdentityReach, 'exists'>;
  revocations: Revocations;
  logger: Logger;
}

/**
 * Revokes and deletes the tokens of people and accounts that were removed from their organization. An event is only a
 * hint: org-access is asked whether the identity was removed, so that nobody can delete tokens by writing to the bus.
 * Safety does not depend on these events: tokens of a removed identity are not returned from the moment that org-access
 * knows of it (`IdentityReach`).
 */
export class RemovedIdentities {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes an event of `organizations`. */
  async onEvent(event: unknown): Promise<void> {
    if (!conforms(IdentityRemoved, event)) return;
    const { organization_id, identity_id } = event.data;
    if (await this.#dependencies.reach.exists({ organization_id, identity_id })) return;
    await this.remove({ organizationId: organization_id, identity: identity_id });
  }

  /** Keeps the bot token of a Slack workspace, which does not represent a person. */
  async remove(owner: TokenOwner): Promise<void> {
    const { database, revocations, logger } = this.#dependencies;
    const { prisma } = database;
    await endFlows(prisma, { organizationId: owner.organizationId, owner: owner.identity });
    const tokens = (await tokenStore.list(prisma, owner)).filter(({ workspaceId }) => workspaceId === null);
    if (tokens.length === 0) return;
    const { failed } = await revocations.revokeAll(tokens);
    const ids = tokens.map(({ id }) => id);
    const deleted = await tokenStore.delete(prisma, ids);
    logger.info('OAuth tokens of removed identity deleted', { identity: owner.identity, deleted, failed });
  }
}
