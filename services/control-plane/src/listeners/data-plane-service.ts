import type {
  DataPlaneLease,
  DataPlaneLeaseRequest,
  DeploymentReport,
  HaltReport,
  ListenerDesiredState,
  MetricsReport,
  RevisionReport,
  RevisionReportAnswer,
  RevisionStatus,
} from '@runyard/contracts';
import { NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { DeploymentKeys } from '../deployments/deployment-keys.ts';
import type { DeploymentTokens } from '../deployments/deployment-tokens.ts';
import { signalOf, type Woken } from '../deployments/rollout-signals.ts';
import type { Prisma, Revision } from '../generated/client.ts';
import type { CopiedLogs } from '../logs/copied-logs.ts';
import type { SampleStore } from '../monitoring/sample-store.ts';
import type { Registry } from '../registry/registry.ts';
import { activateRevision } from '../revisions/activate-revision.ts';
import { haltStore } from '../revisions/halts/halt-store.ts';
import { moveRevision } from '../revisions/revision-moves.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import { type DesiredStateDependencies, readDesiredState } from './listener-desired-state.ts';
import type { ListenerLeases } from './listener-leases.ts';

/** A data plane's request for its desired state. */
export interface DesiredStateRequest {
  epoch: number;
  /** The version that the data plane knows already. */
  since: string | undefined;
  waitMs: number;
}

/** Answers the requests and reports of data planes. Each learns only of its listener's deployments. */
export class DataPlaneService {
  readonly #leases: ListenerLeases;
  readonly #stateDependencies: DesiredStateDependencies;
  readonly #signals: Signals;
  readonly #samples: SampleStore;
  readonly #copies: CopiedLogs;
  readonly #builds: Pick<Woken, 'wake'>;
  readonly #removeContent: (deploymentId: string) => Promise<void>;

  constructor(options: {
    leases: ListenerLeases;
    secrets: SecretSets;
    tokens: DeploymentTokens;
    keys: DeploymentKeys;
    registry: Pick<Registry, 'address'>;
    signals: Signals;
    samples: SampleStore;
    copies: CopiedLogs;
    /** Is notified of revisions to build. */
    builds: Pick<Woken, 'wake'>;
    /** Removes sources, builds and images. */
    removeContent: (deploymentId: string) => Promise<void>;
  }) {
    this.#leases = options.leases;
    const { secrets, tokens, keys } = options;
    this.#stateDependencies = { secrets, tokens, keys, registry: options.registry.address };
    this.#signals = options.signals;
    this.#samples = options.samples;
    this.#copies = options.copies;
    this.#builds = options.builds;
    this.#removeContent = options.removeContent;
  }

  async connect(caller: Principal, id: string, request: DataPlaneLeaseRequest): Promise<DataPlaneLease> {
    return this.#leases.take(tenantOf(caller), id, request);
  }

  /** Returns undefined when the wait has ended without a change. */
  async desiredState(
    caller: Principal,
    id: string,
    { epoch, since, waitMs }: DesiredStateRequest,
    signal: AbortSignal,
  ): Promise<ListenerDesiredState | undefined> {
    const tenant = tenantOf(caller);
    const until = performance.now() + waitMs;
    const listening = this.#signals.listen(signalOf(id));
    try {
      while (!signal.aborted) {
        const state = await this.#leases.runAsOwner(tenant, { id, epoch }, (transaction) =>
          readDesiredState(transaction, id, this.#stateDependencies),
        );
        if (state.resource_version !== since) return state;
        const leftMs = until - performance.now();
        if (leftMs <= 0 || this.#signals.isDraining) return undefined;
        await listening.next(leftMs, signal);
      }
      return undefined;
    } finally {
      listening.stop();
    }
  }

  async reportRevision(caller: Principal, id: string, report: RevisionReport): Promise<RevisionReportAnswer> {
    const { epoch, revision_id: revisionId, status } = report;
    const { deploymentId, ...answer } = await this.#leases.runAsOwner(
      tenantOf(caller),
      { id, epoch },
      async (transaction) => {
        const find = () =>
          transaction.revision.findFirst({ where: { id: revisionId, deployment: { listenerId: id } } });
        const revision = await find();
        if (!revision) throw new NotFoundError(`Revision ID ${revisionId} not found.`);
        const hasMoved = revision.status !== status && (await moveAsReported(transaction, revision, report));
        const now = hasMoved ? status : (revision.status as RevisionStatus);
        return { deploymentId: revision.deploymentId, is_accepted: now === status, status: now };
      },
    );
    if (answer.status === 'AWAITING_BUILD') this.#builds.wake(deploymentId);
    return answer;
  }

  async reportDeployment(
    caller: Principal,
    ids: { listenerId: string; deploymentId: string },
    { epoch, status }: DeploymentReport,
  ): Promise<void> {
    const { listenerId, deploymentId } = ids;
    const tenant = tenantOf(caller);
    const speaker = { id: listenerId, epoch };
    const where = { id: deploymentId, listenerId };
    if (status === 'DELETED') {
      // The removal may be slow or fail, so it runs outside the transaction. The deployment is deleted only after it.
      const deleted = await this.#leases.runAsOwner(tenant, speaker, (transaction) =>
        isDeletionRequested(transaction, where),
      );
      if (deleted) await this.#removeContent(deploymentId);
    }
    await this.#leases.runAsOwner(tenant, speaker, async (transaction) => {
      if (status === 'READY') return markReady(transaction, where);
      if (await deleteRemoved(transaction, where)) await this.#copies.removeDeployment(deploymentId);
    });
  }

  async reportHalt(
    caller: Principal,
    ids: { listenerId: string; deploymentId: string },
    { epoch, ...outcome }: HaltReport,
  ): Promise<void> {
    const { listenerId, deploymentId } = ids;
    await this.#leases.runAsOwner(tenantOf(caller), { id: listenerId, epoch }, async (transaction) => {
      const where = { id: deploymentId, listenerId };
      if (!(await transaction.deployment.findFirst({ where, select: { id: true } }))) throw deploymentNotFound(where);
      await haltStore.record(transaction, where, outcome);
    });
  }

  async reportMetrics(caller: Principal, id: string, { epoch, samples }: MetricsReport): Promise<void> {
    const own = await this.#leases.runAsOwner(tenantOf(caller), { id, epoch }, (transaction) =>
      transaction.deployment.findMany({ where: { listenerId: id }, select: { id: true } }),
    );
    const ids = new Set(own.map((each) => each.id));
    const taken = samples.map(({ deployment_id, point: { time, ...metrics } }) => ({
      deploymentId: deployment_id.toLowerCase(),
      takenAt: new Date(time),
      metrics,
    }));
    await this.#samples.insert(taken.filter(({ deploymentId }) => ids.has(deploymentId)));
  }
}

async function moveAsReported(
  transaction: Prisma.TransactionClient,
  revision: Revision,
  { status, message = null, image_version: imageVersion = null }: RevisionReport,
): Promise<boolean> {
  if (status !== 'DEPLOYED') return moveRevision(transaction, revision, status, message);
  return (await activateRevision(transaction, revision, { imageVersion }, message)) !== undefined;
}

interface ReportedDeployment {
  id: string;
  listenerId: string;
}

async function markReady(transaction: Prisma.TransactionClient, where: ReportedDeployment): Promise<void> {
  if (!(await transaction.deployment.findFirst({ where, select: { id: true } }))) throw deploymentNotFound(where);
  await transaction.deployment.updateMany({
    where: { ...where, status: { in: ['AWAITING_DATABASE', 'UNUSED'] } },
    data: { status: 'READY' },
  });
}

async function isDeletionRequested(transaction: Prisma.TransactionClient, where: ReportedDeployment): Promise<boolean> {
  const deleted = { ...where, deleteRequestedAt: { not: null } };
  return (await transaction.deployment.findFirst({ where: deleted, select: { id: true } })) !== null;
}

/**
 * Deletes the row of a deployment that its data plane has removed.
 *
 * @returns false when the row did not exist any more, which is no error, as reports may be repeated
 * @throws NotFoundError when the deployment must not be deleted
 */
async function deleteRemoved(transaction: Prisma.TransactionClient, where: ReportedDeployment): Promise<boolean> {
  const { count } = await transaction.deployment.deleteMany({ where: { ...where, deleteRequestedAt: { not: null } } });
  if (count === 0 && (await transaction.deployment.findFirst({ where, select: { id: true } })))
    throw deploymentNotFound(where);
  return count > 0;
}

function deploymentNotFound({ id }: ReportedDeployment): NotFoundError {
  return new NotFoundError(`Deployment ID ${id} not found.`, { code: 'deployment_not_found' });
}
