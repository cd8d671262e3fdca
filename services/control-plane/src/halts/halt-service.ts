import type { HaltRequest, HaltState } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { type HaltOutcome, haltStateOf } from '@runyard/deployments';
import { type Logger, type Principal, type RequestOrigin, tenantOf } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { untilConfirmed } from '../deployments/confirmation.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import { recordHaltChange } from '../events/halt-events.ts';
import type { Halt } from '../generated/client.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';
import { deploymentsOf, type HaltTarget, haltLock, haltStore } from '../revisions/halts/halt-store.ts';

/** The thing that a caller halts: a deployment by its id, or its own workspace or organization. */
export type HaltSubject = { deploymentId: string } | 'workspace' | 'organization';

/** The caller that changes a halt, and the origin of its request. */
export interface HaltRequester {
  caller: Principal;
  origin: RequestOrigin;
}

export interface HaltServiceOptions {
  database: Database;
  rollouts: Pick<RolloutSignals, 'wakeAll'>;
  logger: Logger;
}

/** Records halts and resumes as desired state, and tells how far data planes are with them. */
export class HaltService {
  readonly #options: HaltServiceOptions;

  constructor(options: HaltServiceOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError */
  async halt(by: HaltRequester, subject: HaltSubject, { reason, queued }: HaltRequest): Promise<HaltState> {
    return this.#change(by, subject, { reason, cancelsQueued: queued === 'cancel' });
  }

  /** @throws NotFoundError */
  async resume(by: HaltRequester, subject: HaltSubject): Promise<HaltState> {
    return this.#change(by, subject, null);
  }

  /** @throws NotFoundError */
  async find(caller: Principal, subject: HaltSubject): Promise<HaltState> {
    return this.#read(await this.#targetOf(caller, subject));
  }

  /** A repeated request changes nothing, and is answered with how far it is. */
  async #change(
    { caller, origin }: HaltRequester,
    subject: HaltSubject,
    desired: Pick<Halt, 'reason' | 'cancelsQueued'> | null,
  ): Promise<HaltState> {
    const { database, rollouts, logger } = this.#options;
    const target = await this.#targetOf(caller, subject);
    const scopeId = target.deploymentId ?? target.workspaceId ?? target.organizationId;
    const isChanged = await database.transact(async (transaction) => {
      await takeAdvisoryLock(transaction, haltLock(target.organizationId));
      const current = await transaction.halt.findUnique({ where: { scopeId } });
      if (isSame(current, desired)) return false;
      if (desired) {
        const row = { ...target, ...desired, createdBy: caller.identity };
        await transaction.halt.upsert({
          where: { scopeId },
          create: { ...row, scopeId },
          update: { ...row, createdAt: new Date() },
        });
      } else await transaction.halt.delete({ where: { scopeId } });
      await transaction.deployment.updateMany({
        where: deploymentsOf(target),
        data: { haltVersion: { increment: 1 } },
      });
      await recordHaltChange(transaction, target, { before: current, after: desired, origin });
      return true;
    });
    const { identity } = caller;
    if (isChanged) logger.warn(desired ? 'halt recorded' : 'resume recorded', { ...target, ...desired, identity });
    const concerned = await database.prisma.deployment.findMany({
      where: deploymentsOf(target),
      select: { id: true, listenerId: true },
    });
    rollouts.wakeAll(concerned);
    return untilConfirmed(
      () => this.#read(target),
      ({ reached, deployments }) => reached === deployments,
    );
  }

  async #read(target: HaltTarget): Promise<HaltState> {
    const { prisma } = this.#options.database;
    const halts = await haltStore.inForce(prisma, target);
    const rows = await prisma.deployment.findMany({
      where: deploymentsOf(target),
      select: {
        id: true,
        name: true,
        listenerId: true,
        haltVersion: true,
        haltReachedVersion: true,
        haltProgress: true,
      },
      orderBy: { createdAt: 'asc' },
    });
    const deployments = rows.map(({ haltProgress, ...row }) => ({
      ...row,
      outcome: haltProgress as unknown as HaltOutcome | null,
    }));
    return haltStateOf(halts, deployments);
  }

  async #targetOf(caller: Principal, subject: HaltSubject): Promise<HaltTarget> {
    const tenant = tenantOf(caller);
    const { organizationId, workspaceId } = tenant;
    if (subject === 'organization') return { organizationId, workspaceId: null, deploymentId: null };
    if (subject === 'workspace') return { organizationId, workspaceId, deploymentId: null };
    const { deploymentId } = subject;
    await deploymentStore.get(this.#options.database.prisma, tenant, deploymentId);
    return { organizationId, workspaceId, deploymentId };
  }
}

function isSame(current: Halt | null, desired: Pick<Halt, 'reason' | 'cancelsQueued'> | null): boolean {
  if (!current || !desired) return !current && !desired;
  return current.reason === desired.reason && current.cancelsQueued === desired.cancelsQueued;
}
