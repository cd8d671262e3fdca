import type { Deployment, DeploymentPatch, Revision, RevisionList, RevisionStatus } from '@runyard/contracts';
import type { KeyedRequest } from '@runyard/database';
import { BadRequestError, NotFoundError, type Principal } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { type Tenant, tenantOf } from '../deployments/caller-scope.ts';
import { changesOf, repetitionOf } from '../deployments/deployment-changes.ts';
import { deploymentStore, type Page, type RevisionFilter } from '../deployments/deployment-store.ts';
import type { DeploymentView } from '../deployments/deployment-view.ts';
import { type Decide, type DesiredState, existing, type Rollouts } from '../deployments/desired-state.ts';
import type { Prisma, Revision as RevisionRow } from '../generated/client.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import { moveRevision } from './revision-moves.ts';

/** What callers want of the revisions of a deployment. */
export class RevisionService {
  readonly #database: Database;
  readonly #desired: DesiredState;
  readonly #secrets: SecretSets;
  readonly #view: DeploymentView;
  readonly #rollouts: Rollouts;

  constructor(options: {
    database: Database;
    desired: DesiredState;
    secrets: SecretSets;
    view: DeploymentView;
    rollouts: Rollouts;
  }) {
    this.#database = options.database;
    this.#desired = options.desired;
    this.#secrets = options.secrets;
    this.#view = options.view;
    this.#rollouts = options.rollouts;
  }

  async list(caller: Principal, id: string, filter: RevisionFilter, page: Page): Promise<RevisionList> {
    const tenant = tenantOf(caller, 'deployments:read');
    const { prisma } = this.#database;
    existing(await deploymentStore.find(prisma, tenant, id), id);
    const rows = await deploymentStore.listRevisions(prisma, tenant, id, filter, page);
    return { resources: rows.map((row) => this.#view.revision(row)), offset: page.offset + rows.length };
  }

  async get(caller: Principal, id: string, revisionId: string): Promise<Revision> {
    const tenant = tenantOf(caller, 'deployments:read');
    const { prisma } = this.#database;
    existing(await deploymentStore.find(prisma, tenant, id), id);
    return this.#view.revision(found(await deploymentStore.findRevision(prisma, tenant, id, revisionId), revisionId));
  }

  /** A new one, whatever the patch holds. */
  async create(caller: Principal, id: string, patch: DeploymentPatch, keyed?: KeyedRequest): Promise<Revision> {
    const tenant = tenantOf(caller, 'deployments:update');
    const decide = changesOf(this.#secrets, patch, { makesRevision: true });
    return this.#desired.change(tenant, id, decide, ({ revision }) => this.#view.revision(revision!), keyed);
  }

  /**
   * The same, unless it was made before. Null then.
   *
   * @param claim says whether this is the first time, in the transaction that makes the revision
   */
  async createOnce(
    caller: Principal,
    id: string,
    patch: DeploymentPatch,
    claim: (transaction: Prisma.TransactionClient) => Promise<boolean>,
  ): Promise<Revision | null> {
    const tenant = tenantOf(caller, 'deployments:update');
    const changes = changesOf(this.#secrets, patch, { makesRevision: true });
    const decide: Decide = async (current, latest, transaction) => {
      if (!(await claim(transaction))) throw new MadeBefore();
      return changes(current, latest, transaction);
    };
    try {
      return await this.#desired.change(tenant, id, decide, ({ revision }) => this.#view.revision(revision!));
    } catch (error) {
      if (error instanceof MadeBefore) return null;
      throw error;
    }
  }

  /** A new one with everything an earlier one had. */
  async redeploy(caller: Principal, id: string, revisionId: string, keyed?: KeyedRequest): Promise<Deployment> {
    const tenant = tenantOf(caller, 'deployments:update');
    return this.#desired.change(
      tenant,
      id,
      async (_current, _latest, transaction) =>
        repetitionOf(found(await deploymentStore.findRevision(transaction, tenant, id, revisionId), revisionId)),
      ({ deployment }) => this.#view.deployment(deployment, caller),
      keyed,
    );
  }

  /** @throws BadRequestError when it has come to an end already */
  async interrupt(caller: Principal, id: string, revisionId: string): Promise<Revision> {
    const tenant = tenantOf(caller, 'deployments:update');
    const interrupted = await this.#database.change(async (transaction) => {
      existing(await deploymentStore.find(transaction, tenant, id), id);
      const revision = found(await deploymentStore.findRevision(transaction, tenant, id, revisionId), revisionId);
      await moveRevision(transaction, revision, 'INTERRUPTED', 'It was interrupted by a caller.');
      return this.#interrupted(transaction, tenant, revision);
    });
    this.#rollouts.changed(id);
    return interrupted;
  }

  async #interrupted(
    transaction: Prisma.TransactionClient,
    tenant: Tenant,
    { id, deploymentId }: RevisionRow,
  ): Promise<Revision> {
    const now = found(await deploymentStore.findRevision(transaction, tenant, deploymentId, id), id);
    if (now.status === ('INTERRUPTED' satisfies RevisionStatus)) return this.#view.revision(now);
    throw new BadRequestError(`The revision is ${now.status} and cannot be interrupted.`);
  }
}

class MadeBefore extends Error {}

function found(row: RevisionRow | null, id: string): RevisionRow {
  if (!row) throw new NotFoundError(`Revision ID ${id} not found.`);
  return row;
}
