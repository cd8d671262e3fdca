import type { Readable } from 'node:stream';
import type {
  BudgetsReport,
  DatabasePassword,
  DatabasePasswordRequest,
  DeploymentReport,
  HaltReport,
  ListenerDesiredState,
  MetricsReport,
  ProcessCountsReport,
  RevisionReport,
  RevisionReportAnswer,
  RevisionRoute,
  RevisionStatus,
  RouteReport,
  WorkspaceSecretsQuestion,
  WorkspaceSecretValues,
} from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import type { CopiedLogs } from '@runyard/revision-logs';
import { InvalidFieldError, NotFoundError } from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { BuildArchives } from '../builds/build-archives.ts';
import type { BuildProduct } from '../builds/build-store.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import type { SampleStore } from '../deployments/sample-store.ts';
import { Prisma, type Revision } from '../generated/client.ts';
import type { WorkspaceSecrets } from '../org-access/workspace-secrets.ts';
import { activateRevision } from '../revisions/activate-revision.ts';
import { budgetStore } from '../revisions/budgets/budget-store.ts';
import { deploymentNotFound } from '../revisions/deployment-errors.ts';
import { haltStore } from '../revisions/halts/halt-store.ts';
import { moveRevision } from '../revisions/revision-moves.ts';
import { routeChanges } from '../revisions/route-changes.ts';
import { type DesiredStateDependencies, readDesiredState } from './listener-desired-state.ts';
import type { SharedStates } from './shared-states.ts';
import { type OwnDeployment, requireOwn, type Speaker } from './speaker.ts';

/** A data plane's request for its desired state. */
export interface DesiredStateRequest {
  epoch: number;
  /** The version that the data plane knows already. */
  since: string | undefined;
  waitMs: number;
}

/** The statuses that concern those who build. */
const TO_BUILD_OR_CLEAN: readonly RevisionStatus[] = ['AWAITING_BUILD', 'DEPLOYED'];

export interface DataPlaneServiceOptions {
  desiredState: Omit<DesiredStateDependencies, 'shared'>;
  shared: SharedStates;
  signals: Signals;
  samples: SampleStore;
  copies: CopiedLogs;
  /** Is notified of what is to be built or removed, and of the ends of deployments. */
  rollouts: Pick<RolloutSignals, 'notifyToBuild' | 'notifyRemoved'>;
  workspaceSecrets: Pick<WorkspaceSecrets, 'read'>;
  archives: Pick<BuildArchives, 'open'>;
  /** Removes sources, builds and images. */
  removeContent: (deploymentId: string) => Promise<void>;
}

/** Answers the requests and reports of data planes. Each learns only of its own deployments. */
export class DataPlaneService {
  readonly #options: DataPlaneServiceOptions;

  constructor(options: DataPlaneServiceOptions) {
    this.#options = options;
  }

  /** Returns undefined when the wait has ended without a change. */
  async desiredState(
    speaker: Speaker,
    { epoch, since, waitMs }: DesiredStateRequest,
    signal: AbortSignal,
  ): Promise<ListenerDesiredState | undefined> {
    const { signals, desiredState, shared } = this.#options;
    const dependencies = { ...desiredState, ...(speaker.isPlatform && { shared }) };
    const until = performance.now() + waitMs;
    const listening = signals.listen(speaker.signal);
    try {
      while (!signal.aborted) {
        const state = await speaker.runAsOwner(epoch, async (transaction, own) => {
          await speaker.takeUp(transaction);
          return readDesiredState(transaction, own, dependencies, since);
        });
        if (state) return state;
        const leftMs = until - performance.now();
        if (leftMs <= 0 || signals.isDraining) return undefined;
        await listening.next(Math.min(leftMs, speaker.lookMs), signal);
      }
      return undefined;
    } finally {
      listening.stop();
    }
  }

  /** @throws NotFoundError when it has no such revision, or the revision no build */
  async openBuild(speaker: Speaker, revisionId: string, epoch: number, signal: AbortSignal): Promise<Readable> {
    const revision = await speaker.runAsOwner(epoch, (transaction, own) =>
      transaction.revision.findFirst({ where: { id: revisionId, deployment: own } }),
    );
    const build = revision?.image as BuildProduct | null | undefined;
    const name = revision && build && 'key' in build && { deploymentId: revision.deploymentId, key: build.key };
    const archive = name ? await this.#options.archives.open(name, signal) : null;
    if (archive) return archive;
    if (name) await this.#buildAgain(speaker, epoch, { ...name, revisionId });
    throw new NotFoundError(`The build of revision ID ${revisionId} not found.`);
  }

  /** Forgets a build that the object storage has lost, so that it is made again. */
  async #buildAgain(
    speaker: Speaker,
    epoch: number,
    { deploymentId, revisionId }: { deploymentId: string; revisionId: string },
  ): Promise<void> {
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      const where = { id: revisionId, deployment: own };
      await transaction.revision.updateMany({ where, data: { image: Prisma.DbNull } });
    });
    this.#options.rollouts.notifyToBuild(deploymentId);
  }

  async reportRevision(speaker: Speaker, report: RevisionReport): Promise<RevisionReportAnswer> {
    const { epoch, revision_id: revisionId, status, route } = report;
    if (route && !speaker.isPlatform)
      throw new InvalidFieldError(['body', 'route'], 'The data plane of a listener keeps its routes itself');
    if (!route && speaker.isPlatform && status === 'DEPLOYED')
      throw new InvalidFieldError(['body', 'route'], 'Field required');
    const { deploymentId, ...answer } = await speaker.runAsOwner(epoch, async (transaction, own) => {
      const revision = await transaction.revision.findFirst({ where: { id: revisionId, deployment: own } });
      if (!revision) throw new NotFoundError(`Revision ID ${revisionId} not found.`);
      const hasMoved = revision.status !== status && (await moveAsReported(transaction, revision, report));
      const now = hasMoved ? status : (revision.status as RevisionStatus);
      return { deploymentId: revision.deploymentId, is_accepted: now === status, status: now };
    });
    // After a roll-out the builds of the revision before are not needed any more.
    if (TO_BUILD_OR_CLEAN.includes(answer.status)) this.#options.rollouts.notifyToBuild(deploymentId);
    return answer;
  }

  async reportDeployment(speaker: Speaker, id: string, { epoch, status }: DeploymentReport): Promise<void> {
    const { removeContent, copies, rollouts } = this.#options;
    let isGone = false;
    if (status === 'DELETED') {
      // The removal may be slow or fail, so it runs outside the transaction. The deployment is deleted only after it.
      const deleted = await speaker.runAsOwner(epoch, (transaction, own) =>
        isDeletionRequested(transaction, { ...own, id }),
      );
      if (deleted) await removeContent(id);
    }
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      if (status === 'READY') return markReady(transaction, { ...own, id });
      if (!(await deleteRemoved(transaction, { ...own, id }))) return;
      await copies.removeDeployment(id);
      isGone = true;
    });
    if (isGone) rollouts.notifyRemoved(id);
  }

  async reportHalt(speaker: Speaker, id: string, { epoch, ...outcome }: HaltReport): Promise<void> {
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      await requireOwn(transaction, { ...own, id });
      await haltStore.record(transaction, { ...own, id }, outcome);
    });
  }

  async reportBudgets(speaker: Speaker, id: string, { epoch, ...outcome }: BudgetsReport): Promise<void> {
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      await requireOwn(transaction, { ...own, id });
      await budgetStore.record(transaction, { ...own, id }, outcome);
    });
  }

  async reportMetrics(speaker: Speaker, { epoch, samples }: MetricsReport): Promise<void> {
    const own = await speaker.runAsOwner(epoch, (transaction, where) =>
      transaction.deployment.findMany({ where, select: { id: true } }),
    );
    const ids = new Set(own.map((each) => each.id));
    const taken = samples.map(({ deployment_id, point: { time, ...metrics } }) => ({
      deploymentId: deployment_id.toLowerCase(),
      takenAt: new Date(time),
      metrics,
    }));
    await this.#options.samples.insert(taken.filter(({ deploymentId }) => ids.has(deploymentId)));
  }

  async reportRoute(speaker: Speaker, id: string, { epoch, upstreams, mount }: RouteReport): Promise<void> {
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      await requireOwn(transaction, { ...own, id });
      if (upstreams) await routeChanges.setUpstreams(transaction, id, upstreams);
      if (mount) await routeChanges.setMountPrefix(transaction, id, mount.revision_id.toLowerCase(), mount.prefix);
    });
  }

  async reportProcessCounts(speaker: Speaker, id: string, { epoch, counts }: ProcessCountsReport): Promise<void> {
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      await requireOwn(transaction, { ...own, id });
      await this.#options.shared.storeCounts(transaction, id, counts);
    });
  }

  async storePassword(
    speaker: Speaker,
    id: string,
    { epoch, password }: DatabasePasswordRequest,
  ): Promise<DatabasePassword> {
    return speaker.runAsOwner(epoch, async (transaction, own) => {
      await requireOwn(transaction, { ...own, id });
      return { password: await this.#options.shared.storePassword(transaction, id, password) };
    });
  }

  /** @throws NotFoundError when it runs no deployment of the workspace; UnavailableError */
  async workspaceSecrets(
    speaker: Speaker,
    { epoch, tenant_id: workspaceId, keys }: WorkspaceSecretsQuestion,
  ): Promise<WorkspaceSecretValues> {
    const tenant = await speaker.runAsOwner(epoch, (transaction, own) =>
      transaction.deployment.findFirst({
        where: { ...own, workspaceId },
        select: { organizationId: true, workspaceId: true },
      }),
    );
    if (!tenant) throw new NotFoundError(`Workspace ID ${workspaceId} not found.`);
    const secrets = await this.#options.workspaceSecrets.read(tenant, keys);
    return { secrets: [...secrets].map(([key, value]) => ({ key, value })) };
  }
}

async function moveAsReported(
  transaction: Prisma.TransactionClient,
  revision: Revision,
  { status, message = null, image_version: given = null, route }: RevisionReport,
): Promise<boolean> {
  const imageVersion = given && toSqlText(given);
  if (status !== 'DEPLOYED') return moveRevision(transaction, revision, status, message);
  if (route) return routeChanges.activate(transaction, revision, { ...activationOf(route), imageVersion }, message);
  return (await activateRevision(transaction, revision, { imageVersion }, message)) !== undefined;
}

const activationOf = ({ upstreams, has_custom_auth, mount_prefix }: RevisionRoute) => ({
  upstreams,
  hasCustomAuth: has_custom_auth,
  mountPrefix: mount_prefix,
});

async function markReady(transaction: Prisma.TransactionClient, where: OwnDeployment): Promise<void> {
  await requireOwn(transaction, where);
  await transaction.deployment.updateMany({
    where: { ...where, status: { in: ['AWAITING_DATABASE', 'UNUSED'] } },
    data: { status: 'READY' },
  });
}

async function isDeletionRequested(transaction: Prisma.TransactionClient, where: OwnDeployment): Promise<boolean> {
  const deleted = { ...where, deleteRequestedAt: { not: null } };
  return (await transaction.deployment.findFirst({ where: deleted, select: { id: true } })) !== null;
}

/**
 * Deletes the row of a deployment that its data plane has removed.
 *
 * @returns false when the row did not exist any more, which is no error, as reports may be repeated
 * @throws NotFoundError when the deployment must not be deleted
 */
async function deleteRemoved(transaction: Prisma.TransactionClient, where: OwnDeployment): Promise<boolean> {
  const { count } = await transaction.deployment.deleteMany({ where: { ...where, deleteRequestedAt: { not: null } } });
  if (count === 0 && (await transaction.deployment.findFirst({ where, select: { id: true } })))
    throw deploymentNotFound(where.id);
  return count > 0;
}
