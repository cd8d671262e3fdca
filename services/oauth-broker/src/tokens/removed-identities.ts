import { conforms, IdentityRemoved } from '@runyard/contracts';
import { type Lifecycle, type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { IdentityReach } from '../identity-reach.ts';
import { endFlows } from '../providers/end-flows.ts';
import type { Revocations } from '../providers/revocations.ts';
import { type TokenOwner, tokenStore } from './token-store.ts';

const EVERY_MS = 3_600_000;
/** Owners of one query. */
const PAGE = 1_000;

interface Dependencies {
  database: Database;
  reach: Pick<IdentityReach, 'exists'>;
  revocations: Revocations;
  logger: Logger;
}

/**
 * Revokes and deletes the tokens of people and accounts that were removed from their organization. An event is only a
 * hint: org-access is asked whether the identity was removed, so that nobody can delete tokens by writing to the bus. A
 * periodic round asks about every owner of a token, because events may be lost.
 * Safety does not depend on these events: tokens of a removed identity are not returned from the moment that org-access
 * knows of it (`IdentityReach`).
 */
export class RemovedIdentities {
  readonly #dependencies: Dependencies;
  readonly #rounds: PeriodicTask;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#rounds = new PeriodicTask({
      name: 'tokens of removed people',
      everyMs: EVERY_MS,
      atStart: true,
      run: (task) => this.#checkAll(task),
      logger: dependencies.logger,
    });
  }

  start(lifecycle: Pick<Lifecycle, 'onStop'>): void {
    this.#rounds.start();
    lifecycle.onStop('tokens of removed people', () => this.#rounds.stop());
  }

  /** Takes an event of `organizations`. */
  async onEvent(event: unknown): Promise<void> {
    if (!conforms(IdentityRemoved, event)) return;
    const { organization_id, identity_id } = event.data;
    await this.#check({ organizationId: organization_id, identity: identity_id });
  }

  async #checkAll(task: PeriodicTask): Promise<void> {
    const { prisma } = this.#dependencies.database;
    let last: TokenOwner | undefined;
    do {
      const owners = await tokenStore.listOwners(prisma, last, PAGE);
      for (const owner of owners) {
        if (task.isStopped) return;
        await this.#check(owner);
      }
      last = owners.at(PAGE - 1);
    } while (last !== undefined);
  }

  /** @throws UnavailableError when org-access cannot be reached: then nothing is removed */
  async #check(owner: TokenOwner): Promise<void> {
    const question = { organization_id: owner.organizationId, identity_id: owner.identity };
    if (!(await this.#dependencies.reach.exists(question))) await this.remove(owner);
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
