import { isDeepStrictEqual } from 'node:util';
import type { DeploymentSource, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { checkSourceRules, type HostNames, invalidSource, isEmpty, type ReferencedSecrets } from '@runyard/deployments';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import type { Tenant } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queries } from '../database/database.ts';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { deploymentAddresses } from '../revisions/deployment-addresses.ts';
import { deploymentBeingDeleted } from '../revisions/deployment-errors.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';
import { insertRevision } from '../revisions/new-revision.ts';
import { checkSource, type SourceRules } from '../sources/check-source.ts';
import type { DesiredSpec } from './deployment-changes.ts';
import { findCompute } from './placement.ts';
import { toStoredConfiguration } from './stored-configuration.ts';

/** Establishes the desired state. Callers notify it of changes after their commit. */
export interface Rollouts {
  /** Notifies that something about the deployment changed. */
  wake(deploymentId: string): void;
  /** Resolves when nothing of the deployment is left, or after `timeoutMs`. */
  waitUntilRemoved(deploymentId: string, timeoutMs: number): Promise<void>;
}

export interface DeploymentChange {
  deployment: Deployment;
  /** The revision that the change made, if any. */
  revision: Revision | null;
}

/** Plans a change from the current deployment and its latest revision. Called with the deployment's row locked. */
export type PlanChange = (
  current: Deployment,
  latest: Revision,
  transaction: Prisma.TransactionClient,
) => Promise<DesiredSpec> | DesiredSpec;

/** Stores the desired state of deployments, one change of a deployment at a time, and notifies the roll-outs. */
export class DesiredState {
  readonly #database: Database;
  readonly #rollouts: Rollouts;
  readonly #sourceRules: SourceRules;
  readonly #referenced: ReferencedSecrets;
  readonly #hosts: HostNames;

  constructor(options: {
    database: Database;
    rollouts: Rollouts;
    sourceRules: SourceRules;
    referenced: ReferencedSecrets;
    hosts: HostNames;
  }) {
    this.#database = options.database;
    this.#rollouts = options.rollouts;
    this.#sourceRules = options.sourceRules;
    this.#referenced = options.referenced;
    this.#hosts = options.hosts;
  }

  /**
   * @throws NotFoundError when the workspace has no such deployment; BadRequestError when it is being deleted, or the
   * change is not possible
   */
  async change<Answer>(
    tenant: Tenant,
    id: string,
    planChange: PlanChange,
    answerOf: (changed: DeploymentChange) => Answer,
    keyed?: KeyedRequest,
  ): Promise<Answer> {
    const answer = await this.#database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        const current = await deploymentStore.getForChange(transaction, tenant, id);
        if (current.deleteRequestedAt) throw deploymentBeingDeleted(id);
        const latest = await transaction.revision.findUniqueOrThrow({ where: { id: current.latestRevisionId } });
        const desired = await planChange(current, latest, transaction);
        await this.check(transaction, tenant, id, current.source as DeploymentSource, desired, latest);
        const customHost = await this.reserveHost(transaction, tenant, id, desired.sourceConfig);
        return answerOf(await write(transaction, current, desired, customHost));
      }),
    );
    this.#rollouts.wake(id);
    return answer;
  }

  /**
   * Returns the host of the deployment's `custom_url` and reserves it until the transaction ends.
   *
   * @throws BadRequestError when another deployment has the host, or another workspace had it
   */
  async reserveHost(
    transaction: Prisma.TransactionClient,
    { workspaceId }: Tenant,
    id: string,
    config: SourceConfig,
  ): Promise<string | null> {
    const host = this.#hosts.customHostOf(config, workspaceId);
    if (host === null) return null;
    await takeAdvisoryLock(transaction, 'deployment names');
    if (await deploymentStore.isHostTaken(transaction, host, { id }))
      throw invalidSource(`the host of 'source_config.custom_url' is another deployment's: ${host}`);
    const address = { kind: 'host', name: host } as const;
    if (await deploymentAddresses.isKeptFromWorkspace(transaction, workspaceId, address)) {
      if (!this.#hosts.isGivenTo(host, workspaceId))
        throw invalidSource(`the host of 'source_config.custom_url' is kept for another workspace: ${host}`);
      await deploymentAddresses.forget(transaction, address);
    }
    return host;
  }

  /**
   * @param latest its revision that the change follows
   * @throws BadRequestError when the deployment cannot run as specified
   */
  async check(
    queries: Queries,
    tenant: Tenant,
    deploymentId: string,
    source: DeploymentSource,
    desired: DesiredSpec,
    latest?: Pick<Revision, 'sourceConfig' | 'sourceRevisionConfig'>,
  ): Promise<void> {
    const { revisionSource, sourceConfig: config, sourceRevisionConfig: revisionConfig } = desired;
    const remote = await findCompute(queries, tenant, config);
    const compute = remote ?? { computeType: null, pods: this.#sourceRules.pods ?? null };
    checkSourceRules({ source, revisionSource, config, revisionConfig, ...compute });
    this.#referenced.checkReadable(desired.secretReferences, { isRemote: remote !== null });
    if (!desired.makesRevision) return;
    const named = { deploymentId, source: revisionSource, sourceConfig: config, sourceRevisionConfig: revisionConfig };
    const isSameFolder = latest !== undefined && isSamePlace(latest, named);
    await checkSource(queries, { tenant, isSameFolder, ...named }, this.#sourceRules);
  }
}

/** Returns whether two revisions run the same file of the same folder of the same machine. */
function isSamePlace(one: RevisionPlace, other: RevisionPlace): boolean {
  const placeOf = ({ sourceConfig, sourceRevisionConfig }: RevisionPlace) => [
    (sourceConfig as SourceConfig).listener_id,
    (sourceConfig as SourceConfig).project_path,
    (sourceRevisionConfig as SourceRevisionConfig).langgraph_config_path,
  ];
  return isDeepStrictEqual(placeOf(one), placeOf(other));
}

type RevisionPlace = Record<'sourceConfig' | 'sourceRevisionConfig', unknown>;

async function write(
  transaction: Prisma.TransactionClient,
  current: Deployment,
  { makesRevision, revisionSource, trackedPackages, ...desired }: DesiredSpec,
  customHost: string | null,
): Promise<DeploymentChange> {
  const revisionId = makesRevision ? uuidv7() : current.latestRevisionId;
  const isFirstToRun =
    makesRevision && current.status === 'UNUSED' && !isEmpty(revisionSource, desired.sourceRevisionConfig);
  const isMoved = customHost !== current.customHost;
  const deployment = await transaction.deployment.update({
    where: { id: current.id },
    data: {
      ...(desired.displayName === undefined ? {} : { displayName: desired.displayName }),
      encryptedSecrets: desired.encryptedSecrets,
      ...toStoredConfiguration(desired),
      latestRevisionId: revisionId,
      ...(isFirstToRun ? { status: 'AWAITING_DATABASE' } : {}),
      ...(isMoved ? { customHost, routeVersion: { increment: 1 } } : {}),
    },
  });
  if (isMoved) await deploymentEvents.routeChanged(transaction, deployment);
  if (!makesRevision) return { deployment, revision: null };
  const newest = await transaction.revision.aggregate({
    where: { deploymentId: current.id },
    _max: { number: true },
  });
  const number = (newest._max.number ?? 0) + 1;
  const origin = { id: revisionId, number, source: revisionSource, trackedPackages };
  return { deployment, revision: await insertRevision(transaction, deployment, origin) };
}
