import type { Deployment, DeploymentPatch, Revision, RevisionList, RevisionStatus } from '@runyard/contracts';
import type { KeyedRequest } from '@runyard/idempotency';
import { BadRequestError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import type { Prisma, Revision as RevisionRow } from '../generated/client.ts';
import { deploymentStore, type PageRequest, type RevisionFilter } from '../revisions/deployment-store.ts';
import { moveRevision } from '../revisions/revision-moves.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import { planPatch, redeploySpec } from './deployment-changes.ts';
import type { PlanChange } from './desired-state.ts';

/** Lists, creates and interrupts the revisions of a deployment for callers. */
export class RevisionService {
  readonly #dependencies: ChangeDependencies;

  constructor(dependencies: ChangeDependencies) {
    this.#dependencies = dependencies;
  }

  async list(caller: Principal, id: string, filter: RevisionFilter, page: PageRequest): Promise<RevisionList> {
    const tenant = tenantOf(caller);
    const { prisma } = this.#dependencies.database;
    await deploymentStore.get(prisma, tenant, id);
    const rows = await deploymentStore.listRevisions(prisma, tenant, id, filter, page);
    return { resources: rows.map((row) => this.#dependencies.view.revision(row)), offset: page.offset + rows.length };
  }

  async get(caller: Principal, id: string, revisionId: string): Promise<Revision> {
    const tenant = tenantOf(caller);
    const { prisma } = this.#dependencies.database;
    await deploymentStore.get(prisma, tenant, id);
    return this.#dependencies.view.revision(await deploymentStore.getRevision(prisma, tenant, id, revisionId));
  }

  /** Creates a revision, even with an empty patch. */
  async create(caller: Principal, id: string, patch: DeploymentPatch, keyed?: KeyedRequest): Promise<Revision> {
    const tenant = tenantOf(caller);
    const decide = planPatch(this.#dependencies, patch, { makesRevision: true });
    return this.#dependencies.desired.change(
      tenant,
      id,
      decide,
      ({ revision }) => this.#dependencies.view.revision(revision!),
      keyed,
    );
  }

  /**
   * Creates a revision once. Returns null when it was created before.
   *
   * @param claim returns whether this is the first time, in the transaction that creates the revision
   */
  async createOnce(
    tenant: Tenant,
    id: string,
    patch: DeploymentPatch,
    claim: (transaction: Prisma.TransactionClient) => Promise<boolean>,
  ): Promise<Revision | null> {
    const changes = planPatch(this.#dependencies, patch, { makesRevision: true });
    const decide: PlanChange = async (current, latest, transaction) => {
      if (!(await claim(transaction))) throw new CreatedBeforeError();
      return changes(current, latest, transaction);
    };
    try {
      return await this.#dependencies.desired.change(tenant, id, decide, ({ revision }) =>
        this.#dependencies.view.revision(revision!),
      );
    } catch (error) {
      if (error instanceof CreatedBeforeError) return null;
      throw error;
    }
  }

  /** Creates a revision with the specification of an earlier one. */
  async redeploy(caller: Principal, id: string, revisionId: string, keyed?: KeyedRequest): Promise<Deployment> {
    const tenant = tenantOf(caller);
    return this.#dependencies.desired.change(
      tenant,
      id,
      async (_current, _latest, transaction) =>
        redeploySpec(await deploymentStore.getRevision(transaction, tenant, id, revisionId)),
      ({ deployment }) => this.#dependencies.view.deployment(deployment, caller),
      keyed,
    );
  }

  /** @throws BadRequestError when it has ended already */
  async interrupt(caller: Principal, id: string, revisionId: string): Promise<Revision> {
    const tenant = tenantOf(caller);
    const interrupted = await this.#dependencies.database.transact(async (transaction) => {
      await deploymentStore.get(transaction, tenant, id);
      const revision = await deploymentStore.getRevision(transaction, tenant, id, revisionId);
      await moveRevision(transaction, revision, 'INTERRUPTED', 'It was interrupted by a caller.');
      return this.#interrupted(transaction, tenant, revision);
    });
    this.#dependencies.rollouts.wake(id);
    return interrupted;
  }

  async #interrupted(
    transaction: Prisma.TransactionClient,
    tenant: Tenant,
    { id, deploymentId }: RevisionRow,
  ): Promise<Revision> {
    const now = await deploymentStore.getRevision(transaction, tenant, deploymentId, id);
    if (now.status === ('INTERRUPTED' satisfies RevisionStatus)) return this.#dependencies.view.revision(now);
    throw new BadRequestError(`The revision is ${now.status} and cannot be interrupted.`, { code: 'revision_ended' });
  }
}

class CreatedBeforeError extends Error {}
