import {
  type Deployment,
  type DeploymentCreate,
  type DeploymentDeletions,
  type DeploymentList,
  type DeploymentPatch,
  isUuid,
} from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import {
  checkCommit,
  checkReferences,
  checkSecrets,
  distinctSlugOf,
  isEmpty,
  removeComputedFields,
  slugOf,
  toStoredSourceConfig,
} from '@runyard/deployments';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import {
  AppError,
  BadRequestError,
  ConflictError,
  InvalidFieldError,
  NotFoundError,
  type Principal,
  type Tenant,
  tenantOf,
} from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Deployment as DeploymentRow, Prisma } from '../generated/client.ts';
import type { DeploymentPolicies } from '../org-access/deployment-policies.ts';
import type { TaggedDeployments } from '../org-access/tagged-deployments.ts';
import { budgetLock, budgetStore } from '../revisions/budgets/budget-store.ts';
import { type DeploymentFilter, deploymentStore, type PageRequest } from '../revisions/deployment-store.ts';
import { haltLock, haltStore } from '../revisions/halts/halt-store.ts';
import { insertRevision } from '../revisions/new-revision.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import { type DesiredSpec, planPatch } from './deployment-changes.ts';
import { placeDeployment } from './placement.ts';
import { requestDeletion } from './request-deletion.ts';
import { toStoredConfiguration } from './stored-configuration.ts';

/** Removing processes and a small database takes about a second, so a caller who waits finds the deployment deleted. */
const DELETE_WAIT_MS = 10_000;

/** Records what callers want of deployments as desired state, which the reconciler then establishes. */
export class DeploymentService {
  readonly #dependencies: ChangeDependencies;
  readonly #tagged: TaggedDeployments;
  readonly #policies: DeploymentPolicies;

  constructor(
    dependencies: ChangeDependencies,
    { tagged, policies }: { tagged: TaggedDeployments; policies: DeploymentPolicies },
  ) {
    this.#dependencies = dependencies;
    this.#tagged = tagged;
    this.#policies = policies;
  }

  /** @param tagValueIds limits the list to deployments with these tags */
  async list(
    caller: Principal,
    filter: Omit<DeploymentFilter, 'taggedIds'>,
    tagValueIds: string[] | undefined,
    page: PageRequest,
  ): Promise<DeploymentList> {
    const tenant = tenantOf(caller);
    const { prisma } = this.#dependencies.database;
    const complete: DeploymentFilter = { ...filter };
    if (tagValueIds) complete.taggedIds = await this.#tagged.find(tenant, tagValueIds);
    const visible = caller.isBoundedByPolicies
      ? await this.#policies.listVisible(caller, await deploymentStore.listIds(prisma, tenant, complete))
      : null;
    if (visible) complete.ids = [...visible.keys()];
    const rows = await deploymentStore.list(prisma, tenant, complete, page);
    return {
      resources: rows.map((row) => this.#dependencies.view.deployment(row, visible?.get(row.id) ?? caller)),
      offset: page.offset + rows.length,
    };
  }

  async get(caller: Principal, id: string): Promise<Deployment> {
    const tenant = tenantOf(caller);
    return this.#dependencies.view.deployment(
      await deploymentStore.get(this.#dependencies.database.prisma, tenant, id),
      caller,
    );
  }

  async create(caller: Principal, body: DeploymentCreate, keyed?: KeyedRequest): Promise<Deployment> {
    const tenant = tenantOf(caller);
    if (body.name == null && body.agent == null) throw nameMissing();
    const id = uuidv7();
    const described = this.#makeFirstSpec(id, body);
    const { sourceConfig, ...place } = await placeDeployment(
      this.#dependencies.database.prisma,
      tenant,
      body.source,
      described.sourceConfig,
    );
    const desired = { ...described, sourceConfig };
    await this.#dependencies.desired.check(this.#dependencies.database.prisma, tenant, id, body.source, desired);

    const created = await this.#dependencies.database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        // The lock keeps two concurrent creations from choosing the same name or slug.
        await takeAdvisoryLock(transaction, 'deployment names');
        const name = await chooseName(transaction, tenant, body);
        const row = {
          ...tenant,
          id,
          name,
          slug: await chooseSlug(transaction, tenant, name, id),
          customHost: await this.#dependencies.desired.reserveHost(transaction, tenant, id, desired.sourceConfig),
          source: body.source,
          agentId: body.agent?.agent_id ?? null,
          agentEnvironment: body.agent?.environment ?? null,
          ...place,
          createdBy: caller.identity,
        };
        return this.#dependencies.view.deployment(await insert(transaction, row, desired), caller);
      }),
    );
    this.#dependencies.rollouts.wake(id);
    return created;
  }

  async patch(caller: Principal, id: string, patch: DeploymentPatch): Promise<Deployment> {
    const tenant = tenantOf(caller);
    const decide = planPatch(this.#dependencies, patch);
    return this.#dependencies.desired.change(tenant, id, decide, ({ deployment }) =>
      this.#dependencies.view.deployment(deployment, caller),
    );
  }

  async delete(caller: Principal, id: string): Promise<void> {
    await this.#delete(tenantOf(caller), id);
  }

  /**
   * Deletes each deployment separately: one that cannot be deleted does not keep the others.
   *
   * @throws NotFoundError when none of them exists
   */
  async deleteAll(caller: Principal, ids: readonly string[]): Promise<DeploymentDeletions> {
    const tenant = tenantOf(caller);
    const distinct = [...new Set(ids)];
    const outcomes = await Promise.allSettled(distinct.map((id) => this.#delete(tenant, id)));
    const deleted = distinct.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    const failures = outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected' ? [{ id: distinct[index] as string, reason: outcome.reason as unknown }] : [],
    );
    // An error without a public message is reported as the server's failure.
    const unexpected = failures.find(({ reason }) => !(reason instanceof AppError));
    if (unexpected) throw unexpected.reason;
    if (failures.length === distinct.length && failures.every(({ reason }) => reason instanceof NotFoundError)) {
      throw new NotFoundError(failures.map(({ reason }) => (reason as AppError).message).join(' '));
    }
    return { deleted, failed: failures.map(({ id, reason }) => ({ id, detail: (reason as AppError).message })) };
  }

  async #delete(tenant: Tenant, id: string): Promise<void> {
    await requestDeletion(this.#dependencies.database, tenant, id);
    this.#dependencies.rollouts.wake(id);
    await this.#dependencies.rollouts.waitUntilRemoved(id, DELETE_WAIT_MS);
  }

  #makeFirstSpec(id: string, body: DeploymentCreate): DesiredSpec {
    const [secrets, references] = [body.secrets ?? [], body.secret_references ?? []];
    checkSecrets(secrets);
    checkReferences(references, secrets);
    checkCommit(body.source_revision_config);
    return {
      revisionSource: body.source,
      sourceConfig: { deployment_type: 'dev', ...toStoredSourceConfig(body.source, body.source_config) },
      sourceRevisionConfig: {
        ...(body.source === 'local_directory' ? { langgraph_config_path: 'langgraph.json' } : {}),
        ...removeComputedFields(body.source_revision_config),
      },
      encryptedSecrets: this.#dependencies.secrets.encrypt(id, secrets),
      secretReferences: references,
      trackedPackages: [],
      makesRevision: true,
    };
  }
}

type NewDeployment = Tenant &
  Pick<
    DeploymentRow,
    | 'id'
    | 'name'
    | 'slug'
    | 'customHost'
    | 'source'
    | 'agentId'
    | 'agentEnvironment'
    | 'createdBy'
    | 'listenerId'
    | 'dataPlaneUrl'
  >;

async function insert(
  transaction: Prisma.TransactionClient,
  row: NewDeployment,
  desired: DesiredSpec,
): Promise<DeploymentRow> {
  const revisionId = uuidv7();
  // The locks keep a halt, or a budget, that is recorded at the same time from missing the deployment.
  await takeAdvisoryLock(transaction, haltLock(row.organizationId));
  const { organizationId, workspaceId } = row;
  await takeAdvisoryLock(transaction, budgetLock(workspaceId));
  const hasBudgets = await budgetStore.hasOfWorkspace(transaction, { organizationId, workspaceId });
  const isHalted =
    (await haltStore.inForce(transaction, { organizationId, workspaceId, deploymentId: null })).length > 0;
  const deployment = await transaction.deployment.create({
    data: {
      ...row,
      ...toStoredConfiguration(desired),
      encryptedSecrets: desired.encryptedSecrets,
      status: isEmpty(desired.revisionSource, desired.sourceRevisionConfig) ? 'UNUSED' : 'AWAITING_DATABASE',
      latestRevisionId: revisionId,
      haltVersion: isHalted ? 1 : 0,
      budgetsVersion: hasBudgets ? 1 : 0,
    },
  });
  await deploymentEvents.created(transaction, deployment);
  await deploymentEvents.routeChanged(transaction, deployment);
  await insertRevision(transaction, deployment, {
    id: revisionId,
    number: 1,
    source: desired.revisionSource,
    trackedPackages: desired.trackedPackages,
  });
  return deployment;
}

/**
 * Returns the requested name, or one made from the agent's.
 *
 * @throws BadRequestError when the name is taken; ConflictError when the agent has a deployment in the environment
 */
async function chooseName(
  transaction: Prisma.TransactionClient,
  tenant: Tenant,
  { name, agent }: DeploymentCreate,
): Promise<string> {
  if (agent && (await deploymentStore.isAgentDeployed(transaction, tenant, agent))) {
    const [id, environment] = [JSON.stringify(agent.agent_id), JSON.stringify(agent.environment)];
    throw new ConflictError(`Agent ${id} already has a deployment in ${environment}.`, {
      code: 'agent_already_deployed',
    });
  }
  const wanted = name ?? `${agent?.agent_id}-${agent?.environment}`;
  if (!(await deploymentStore.isNameTaken(transaction, tenant, wanted))) return wanted;
  throw new BadRequestError(`A deployment named ${JSON.stringify(wanted)} already exists in this workspace.`, {
    code: 'deployment_name_taken',
  });
}

const nameMissing = () => new InvalidFieldError(['body', 'name'], 'Field required', { type: 'missing' });

/**
 * Returns a slug that no other deployment has, and no other workspace ever had. It is never a uuid, because paths accept
 * ids in place of slugs.
 */
async function chooseSlug(
  transaction: Prisma.TransactionClient,
  tenant: Tenant,
  name: string,
  id: string,
): Promise<string> {
  const slug = slugOf(name);
  const isTaken = isUuid(slug) || (await deploymentStore.isSlugTaken(transaction, tenant, slug));
  return isTaken ? distinctSlugOf(name, id) : slug;
}
