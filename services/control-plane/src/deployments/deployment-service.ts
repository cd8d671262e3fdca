import type {
  Deployment,
  DeploymentCreate,
  DeploymentList,
  DeploymentPatch,
  DeploymentSource,
  Revision,
  RevisionList,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import { type KeyedRequest, lockFor } from '@runyard/database';
import { BadRequestError, NotFoundError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Deployment as DeploymentRow, Prisma, Revision as RevisionRow } from '../generated/client.ts';
import { checkSecrets, type SecretSets } from '../secrets/secret-set.ts';
import { checkSource, type SourceRules } from '../sources/check-source.ts';
import { type Tenant, tenantOf } from './caller-scope.ts';
import { changedRevisionConfig, changedSourceConfig, given, needsRevision } from './deployment-changes.ts';
import { type DeploymentFilter, deploymentStore, type Page } from './deployment-store.ts';
import type { DeploymentView } from './deployment-view.ts';
import { distinctSlugOf, slugOf } from './slug.ts';
import { parseStatuses } from './status-filter.ts';

/** What makes the desired state real; told of changes after they are committed. */
export interface Rollouts {
  /** Something about the deployment changed. */
  changed(deploymentId: string): void;
  /** Resolves when nothing of the deployment is left, or after `timeoutMs`. */
  removed(deploymentId: string, timeoutMs: number): Promise<void>;
}

interface Changed {
  deployment: DeploymentRow;
  revision: RevisionRow | null;
}

interface Change<Answer> {
  makesRevision: boolean;
  answerOf: (changed: Changed) => Answer;
  keyed?: KeyedRequest | undefined;
}

/** What a deployment is to be, decided on how it is now. */
type Decide = (
  transaction: Prisma.TransactionClient,
  current: DeploymentRow,
) => Promise<{
  sourceConfig: SourceConfig;
  sourceRevisionConfig: SourceRevisionConfig;
  sealedSecrets: string | null;
  makesRevision: boolean;
}>;

/** Removing processes and a small database takes about a second; a caller who waits sees the deployment gone. */
const DELETE_WAIT_MS = 10_000;

/** What callers want of deployments: written down as desired state, which the reconciler then makes real. */
export class DeploymentService {
  readonly #database: Database;
  readonly #secrets: SecretSets;
  readonly #view: DeploymentView;
  readonly #rollouts: Rollouts;
  readonly #sourceRules: SourceRules;

  constructor(options: {
    database: Database;
    secrets: SecretSets;
    view: DeploymentView;
    rollouts: Rollouts;
    sourceRules: SourceRules;
  }) {
    this.#database = options.database;
    this.#secrets = options.secrets;
    this.#view = options.view;
    this.#rollouts = options.rollouts;
    this.#sourceRules = options.sourceRules;
  }

  async list(caller: Principal, filter: DeploymentFilter, page: Page): Promise<DeploymentList> {
    const tenant = tenantOf(caller, 'deployments:read');
    const rows = await deploymentStore.list(this.#database.prisma, tenant, filter, page);
    return { resources: rows.map((row) => this.#render(row, caller)), offset: page.offset + rows.length };
  }

  async get(caller: Principal, id: string): Promise<Deployment> {
    const tenant = tenantOf(caller, 'deployments:read');
    return this.#render(existing(await deploymentStore.find(this.#database.prisma, tenant, id), id), caller);
  }

  async create(caller: Principal, body: DeploymentCreate, keyed?: KeyedRequest): Promise<Deployment> {
    const tenant = tenantOf(caller, 'deployments:create');
    const { custom_url: _computed, ...asked } = given(body.source_config);
    const sourceConfig: SourceConfig = { deployment_type: 'dev', ...asked };
    const sourceRevisionConfig: SourceRevisionConfig = {
      langgraph_config_path: 'langgraph.json',
      ...given(body.source_revision_config),
    };
    const [id, revisionId] = [uuidv7(), uuidv7()];
    const { source } = body;
    const checked = { tenant, deploymentId: id, source, sourceConfig, sourceRevisionConfig };
    await checkSource(this.#database.prisma, checked, this.#sourceRules);
    checkSecrets(body.secrets ?? []);

    const sealedSecrets = this.#secrets.seal(id, body.secrets ?? []);
    const created = await this.#database.change(async (transaction) => {
      // Names and slugs are decided one creation at a time.
      await lockFor(transaction, 'deployment names');
      if (await deploymentStore.isNameTaken(transaction, tenant, body.name)) {
        throw new BadRequestError(`A deployment named ${JSON.stringify(body.name)} already exists in this workspace.`);
      }
      const slug = slugOf(body.name);
      const deployment = await transaction.deployment.create({
        data: {
          ...tenant,
          id,
          name: body.name,
          slug: (await deploymentStore.isSlugTaken(transaction, slug)) ? distinctSlugOf(body.name, id) : slug,
          source: body.source,
          sourceConfig: sourceConfig as Prisma.InputJsonObject,
          sourceRevisionConfig,
          sealedSecrets,
          status: 'AWAITING_DATABASE',
          latestRevisionId: revisionId,
          createdBy: caller.identity,
        },
      });
      await deploymentEvents.routeChanged(transaction, deployment);
      await insertRevision(transaction, deployment, revisionId, 1);
      return this.#render(deployment, caller);
    }, keyed);
    this.#rollouts.changed(id);
    return created;
  }

  async patch(caller: Principal, id: string, patch: DeploymentPatch): Promise<Deployment> {
    return this.#change(caller, id, patch, {
      makesRevision: needsRevision(patch),
      answerOf: ({ deployment }) => this.#render(deployment, caller),
    });
  }

  async createRevision(caller: Principal, id: string, patch: DeploymentPatch, keyed?: KeyedRequest): Promise<Revision> {
    const answerOf = ({ revision }: Changed) => this.#view.revision(revision!);
    return this.#change(caller, id, patch, { makesRevision: true, answerOf, keyed });
  }

  async redeploy(caller: Principal, id: string, revisionId: string, keyed?: KeyedRequest): Promise<Deployment> {
    const tenant = tenantOf(caller, 'deployments:update');
    const answerOf = ({ deployment }: Changed) => this.#render(deployment, caller);
    const decide: Decide = async (transaction) => {
      const earlier = await deploymentStore.findRevision(transaction, tenant, id, revisionId);
      if (!earlier) throw revisionMissing(revisionId);
      return {
        sourceConfig: earlier.sourceConfig as SourceConfig,
        sourceRevisionConfig: earlier.sourceRevisionConfig as SourceRevisionConfig,
        sealedSecrets: earlier.sealedSecrets,
        makesRevision: true,
      };
    };
    return this.#inChange(tenant, id, decide, answerOf, keyed);
  }

  async delete(caller: Principal, id: string): Promise<void> {
    const tenant = tenantOf(caller, 'deployments:delete');
    await this.#database.change(async (transaction) => {
      const current = existing(await deploymentStore.findForChange(transaction, tenant, id), id);
      if (current.deleteRequestedAt) return;
      const deleted = await transaction.deployment.update({
        where: { id },
        data: {
          status: 'AWAITING_DELETE',
          deleteRequestedAt: new Date(),
          upstreams: [],
          routeVersion: { increment: 1 },
        },
      });
      await deploymentEvents.deleted(transaction, deleted);
    });
    this.#rollouts.changed(id);
    await this.#rollouts.removed(id, DELETE_WAIT_MS);
  }

  async listRevisions(caller: Principal, id: string, filter: { status?: string }, page: Page): Promise<RevisionList> {
    const tenant = tenantOf(caller, 'deployments:read');
    const statuses = parseStatuses(filter.status);
    existing(await deploymentStore.find(this.#database.prisma, tenant, id), id);
    const rows = await deploymentStore.listRevisions(this.#database.prisma, tenant, id, { statuses }, page);
    return { resources: rows.map((row) => this.#view.revision(row)), offset: page.offset + rows.length };
  }

  async getRevision(caller: Principal, id: string, revisionId: string): Promise<Revision> {
    const tenant = tenantOf(caller, 'deployments:read');
    existing(await deploymentStore.find(this.#database.prisma, tenant, id), id);
    const row = await deploymentStore.findRevision(this.#database.prisma, tenant, id, revisionId);
    if (!row) throw revisionMissing(revisionId);
    return this.#view.revision(row);
  }

  #change<Answer>(
    caller: Principal,
    id: string,
    patch: DeploymentPatch,
    { makesRevision, answerOf, keyed }: Change<Answer>,
  ): Promise<Answer> {
    const tenant = tenantOf(caller, 'deployments:update');
    if (patch.secrets) checkSecrets(patch.secrets);
    const decide: Decide = async (_, current) => ({
      sourceConfig: changedSourceConfig(current.sourceConfig as SourceConfig, patch.source_config),
      sourceRevisionConfig: changedRevisionConfig(
        current.sourceRevisionConfig as SourceRevisionConfig,
        patch.source_revision_config,
      ),
      sealedSecrets: patch.secrets ? this.#secrets.seal(id, patch.secrets) : current.sealedSecrets,
      makesRevision,
    });
    return this.#inChange(tenant, id, decide, answerOf, keyed);
  }

  /** Decides and writes a change while nobody else changes the deployment. */
  async #inChange<Answer>(
    tenant: Tenant,
    id: string,
    decide: Decide,
    answerOf: (changed: Changed) => Answer,
    keyed: KeyedRequest | undefined,
  ): Promise<Answer> {
    const answer = await this.#database.change(async (transaction) => {
      const current = existing(await deploymentStore.findForChange(transaction, tenant, id), id);
      if (current.deleteRequestedAt) throw new BadRequestError(`Deployment ID ${id} is being deleted.`);
      const { makesRevision, ...data } = await decide(transaction, current);
      if (makesRevision) {
        const source = current.source as DeploymentSource;
        await checkSource(transaction, { tenant, deploymentId: id, source, ...data }, this.#sourceRules);
      }
      const revisionId = makesRevision ? uuidv7() : current.latestRevisionId;
      const deployment = await transaction.deployment.update({
        where: { id },
        data: { ...data, sourceConfig: data.sourceConfig as Prisma.InputJsonObject, latestRevisionId: revisionId },
      });
      if (!makesRevision) return answerOf({ deployment, revision: null });
      const newest = await transaction.revision.aggregate({ where: { deploymentId: id }, _max: { number: true } });
      const number = (newest._max.number ?? 0) + 1;
      return answerOf({ deployment, revision: await insertRevision(transaction, deployment, revisionId, number) });
    }, keyed);
    this.#rollouts.changed(id);
    return answer;
  }

  #render(row: DeploymentRow, caller: Principal): Deployment {
    return this.#view.deployment(row, { mayUpdate: caller.permissions.includes('deployments:update') });
  }
}

/** A copy of everything the roll-out needs: later changes of the deployment are another revision's. */
async function insertRevision(
  transaction: Prisma.TransactionClient,
  deployment: DeploymentRow,
  id: string,
  number: number,
): Promise<RevisionRow> {
  const revision = await transaction.revision.create({
    data: {
      id,
      deploymentId: deployment.id,
      number,
      status: 'CREATING',
      source: deployment.source,
      sourceConfig: deployment.sourceConfig as Prisma.InputJsonValue,
      sourceRevisionConfig: deployment.sourceRevisionConfig as Prisma.InputJsonValue,
      sealedSecrets: deployment.sealedSecrets,
    },
  });
  await deploymentEvents.revisionStatusChanged(transaction, revision);
  return revision;
}

/** A deployment of another workspace and one that was never there answer alike. */
function existing(row: DeploymentRow | null, id: string): DeploymentRow {
  if (!row) throw new NotFoundError(`Deployment ID ${id} not found.`);
  return row;
}

const revisionMissing = (id: string) => new NotFoundError(`Revision ID ${id} not found.`);
