import {
  AGENT_SERVER_LEVEL,
  type DeploymentSource,
  type RevisionStatus,
  type SourceRevisionConfig,
} from '@runyard/contracts';
import { isUnavailable } from '@runyard/database';
import type { RolloutDeployment, RolloutRevision } from '@runyard/deployments';
import {
  BuildError,
  failRevision,
  hasReached,
  isEmpty,
  isImageSource,
  isWaiting,
  RevisionEndedError,
  reachStatus,
} from '@runyard/deployments';
import type { StepResult, StopOptions } from '@runyard/reconciler';
import { type Logger, UnavailableError } from '@runyard/service-kit';
import type { RunningRevision } from '../drivers/driver.ts';
import { ActiveRevision, SHORT_GRACE_MS } from './active-revision.ts';
import type { AppliedState } from './applied-state.ts';
import { openDeploymentBudgets } from './deployment-budgets.ts';
import { openDeploymentHalt } from './deployment-halt.ts';
import { readMountPrefix } from './mount-prefix.ts';
import { ensureStorage, makeSpec, type StorageAccess } from './revision-specs.ts';
import { ensureStorageOrFail, skipSuperseded } from './roll-out-steps.ts';
import type { RolloutDependencies } from './rollout-dependencies.ts';

/**
 * Establishes the desired state of one deployment: its database, its active revision running, its newest open revision
 * built and rolled out. It works one step at a time. Its owner calls `step` whenever something may have changed, and
 * `notice` before it.
 *
 * A new revision is healthy before it becomes active, and a failed one never replaces the one that serves. The active
 * revision is always written first to the deployment's own database, where its workers look, and then here.
 */
export class DeploymentRollout {
  readonly #id: string;
  readonly #dependencies: RolloutDependencies;
  readonly #logger: Logger;
  readonly #activeRevision: ActiveRevision;
  readonly #halt: AppliedState;
  readonly #budgets: AppliedState;
  /** Aborts the current build or start. */
  #working = new AbortController();
  /** The revision of the current build or start. */
  #workingOn: string | undefined;
  /** True when the deployment's own database may name a revision that was not activated here after all. */
  #isActivationOpen = false;

  constructor(id: string, dependencies: RolloutDependencies) {
    this.#id = id;
    this.#dependencies = dependencies;
    this.#logger = dependencies.logger.child({ deploymentId: id });
    const { store, databases, cipher } = dependencies;
    const parts = { deploymentId: id, store, databases, cipher, logger: this.#logger };
    this.#halt = openDeploymentHalt(parts);
    this.#budgets = openDeploymentBudgets(parts);
    this.#activeRevision = new ActiveRevision({
      deploymentId: id,
      store,
      onDrained: () => this.#removeUnusedBuilds(),
      logger: this.#logger,
    });
  }

  /**
   * Aborts the current build or start when it became pointless: the deployment is being deleted, the revision was
   * interrupted, or a newer one was created while it waits.
   */
  async wake(): Promise<void> {
    void this.#halt.apply();
    void this.#budgets.apply();
    const { store } = this.#dependencies;
    // Both are read before the queries, because the next step may begin meanwhile.
    const working = this.#working;
    const id = this.#workingOn;
    const deployment = await store.find(this.#id);
    if (!deployment || deployment.deleteRequestedAt) interrupt(working);
    if (id === undefined) return;
    const open = await store.openRevisions(this.#id);
    const revision = open.find((each) => each.id === id);
    if (!revision || (isWaiting(revision.status) && open.at(-1) !== revision)) interrupt(working);
  }

  async step(): Promise<StepResult> {
    this.#working = new AbortController();
    this.#workingOn = undefined;
    await this.#halt.apply();
    await this.#budgets.apply();
    const deployment = await this.#dependencies.store.find(this.#id);
    if (!deployment) {
      await this.stop(SHORT_GRACE_MS);
      return 'gone';
    }
    if (deployment.deleteRequestedAt) return this.#remove();

    const open = await skipSuperseded(this.#dependencies.store, await this.#dependencies.store.openRevisions(this.#id));
    let result: StepResult = 'settled';
    if (deployment.activeRevisionId && this.#activeRevision.revisionId !== deployment.activeRevisionId) {
      result = await this.#bringUp(deployment, deployment.activeRevisionId);
    }
    if (this.#isActivationOpen) await this.#reactivate(deployment);
    const next = open[0];
    if (next && !(await this.#rollOut(deployment, next))) result = 'retry';
    if (open.length > 1) return 'retry';
    await this.#removeUnusedBuilds();
    return result;
  }

  /** Ends every process of the deployment, without changing its desired state. */
  async stop(graceMs: number, options: StopOptions = {}): Promise<void> {
    // `stop` comes first, so that a revision that starts from now on is stopped too.
    this.#halt.stop();
    this.#budgets.stop();
    const stopped = this.#activeRevision.stop(graceMs, options);
    interrupt(this.#working);
    await stopped;
  }

  /** Starts the active revision after a restart of this service, or after a takeover from another process. */
  async #bringUp(deployment: RolloutDeployment, revisionId: string): Promise<StepResult> {
    const { store, driver, builds } = this.#dependencies;
    const revision = await store.findRevision(revisionId);
    if (this.#activeRevision.isStopped) return 'settled';
    // The stored upstreams belong to processes that have ended. Exceptions are a revision that serves here until this
    // one replaces it, and revisions that outlive their data plane.
    const goesOn = revision !== null && driver.outlivesProcess(builds.kindOf(revision));
    if (this.#activeRevision.revisionId === undefined && !goesOn) await store.setUpstreams(this.#id, []);
    if (!revision) return 'settled';
    try {
      const access = await ensureStorage(this.#dependencies, deployment);
      // The build may be on the disk of another machine, or lost.
      await this.#build(revision);
      const running = await this.#start(revision, access, { isFirst: false });
      await this.#letClaim(access, revisionId);
      if (await this.#activeRevision.replaceWith(running))
        this.#logger.info('active revision restarted', { revisionId });
      return 'settled';
    } catch (error) {
      if (this.#activeRevision.isStopped || this.#working.signal.aborted) return 'settled';
      this.#logger.error('active revision failed to start, will retry', { revisionId, error });
      return 'retry';
    }
  }

  /** Lets the workers of the serving revision claim runs again, after another revision could not be activated. */
  async #reactivate(deployment: RolloutDeployment): Promise<void> {
    const { revisionId } = this.#activeRevision;
    if (revisionId === undefined) return;
    const access = await ensureStorage(this.#dependencies, deployment);
    await this.#letClaim(access, revisionId);
    this.#isActivationOpen = false;
  }

  /** Returns false when the roll-out has to be tried again, because the failure was not the revision's. */
  async #rollOut(deployment: RolloutDeployment, revision: RolloutRevision): Promise<boolean> {
    const { store } = this.#dependencies;
    this.#workingOn = revision.id;
    if (isEmpty(revision.source as DeploymentSource, revision.sourceRevisionConfig as SourceRevisionConfig)) {
      await store.moveRevision(revision, 'QUEUED');
      return true;
    }
    let access: StorageAccess | undefined;
    let running: RunningRevision;
    const interrupted = this.#working.signal;
    const reached = (status: RevisionStatus) => reachStatus(store, revision, status);
    try {
      access = await ensureStorageOrFail(this.#dependencies, deployment, revision, this.#logger);
      await reached('QUEUED');
      if (this.#dependencies.builds.isBuilt(revision.source)) await reached('AWAITING_BUILD');
      await this.#build(revision);
      await reached('AWAITING_DEPLOY');
      const isFirst = deployment.activeRevisionId === null;
      running = await this.#start(revision, access, { isFirst, onBegin: () => reached('DEPLOYING') });
    } catch (error) {
      // The revision stays as it is: the next owner of the deployment continues, skips or deletes it.
      if (interrupted.aborted || this.#activeRevision.isStopped || error instanceof RevisionEndedError) return true;
      // A build reports an unavailable storage itself, after it has waited for it.
      const isAway = isUnavailable(error) || error instanceof UnavailableError;
      if (!(error instanceof BuildError) && isAway) {
        this.#logger.error('rollout failed, will retry', { revisionId: revision.id, error });
        return false;
      }
      return this.#fail(revision, access, error);
    }
    return this.#activate(revision, running, access);
  }

  /** Ends a revision that failed by its own fault. Returns false when that has to be tried again. */
  async #fail(revision: RolloutRevision, access: StorageAccess | undefined, error: unknown): Promise<boolean> {
    try {
      // A process that ends in between leaves the revision open: it is rolled out, and noted, once more.
      if (access) await this.#noteEdit(access, revision, 'failed');
    } catch (cause) {
      this.#logger.error('failed edit not noted, will retry', { revisionId: revision.id, error: cause });
      return false;
    }
    await failRevision(this.#dependencies.store, revision, error, this.#logger);
    return true;
  }

  /**
   * Notes whether the newest edit of a project that is run in its folder loads: while it does not, its crons pause,
   * since the folder has the broken code by then. Of anything else, a revision that fails has changed nothing.
   */
  async #noteEdit(access: StorageAccess, revision: RolloutRevision, outcome: 'failed' | 'loaded'): Promise<void> {
    if (revision.source !== ('local_directory' satisfies DeploymentSource)) return;
    await this.#dependencies.databases.setFailedRevision(access, outcome === 'failed' ? revision.id : null);
  }

  /** Builds the revision unless its artifact exists on this machine. */
  async #build(revision: RolloutRevision): Promise<void> {
    const { builds } = this.#dependencies;
    if (!builds.isBuilt(revision.source)) return;
    if (hasReached(revision.status, 'AWAITING_DEPLOY') && (await builds.find(revision))) return;
    await builds.build(revision, this.#working.signal);
  }

  async #activate(revision: RolloutRevision, running: RunningRevision, access: StorageAccess): Promise<boolean> {
    const { store } = this.#dependencies;
    const replaced = this.#activeRevision.revisionId;
    let isActive: boolean;
    const mountPrefix = await readMountPrefix(running.upstreams, this.#working.signal);
    this.#isActivationOpen = true;
    try {
      await this.#letClaim(access, revision.id);
      // It comes first: a crash after the activation would leave the crons paused.
      await this.#noteEdit(access, revision, 'loaded');
      const { upstreams, hasCustomAuth } = running;
      // An image contains a server of its own.
      const imageVersion = isImageSource(revision.source) ? null : AGENT_SERVER_LEVEL;
      const serving = { upstreams, hasCustomAuth, mountPrefix: mountPrefix ?? null, imageVersion };
      isActive = await store.activate(revision, serving);
      // The revision was interrupted at the last moment.
      if (!isActive && replaced !== undefined) await this.#letClaim(access, replaced);
      this.#isActivationOpen = false;
    } catch (error) {
      await running.stop(SHORT_GRACE_MS);
      this.#logger.error('revision activation failed, will retry', { revisionId: revision.id, error });
      return false;
    }
    if (!isActive) {
      await running.stop(SHORT_GRACE_MS);
      return true;
    }
    const options = { isMountPrefixStored: mountPrefix !== undefined };
    if (await this.#activeRevision.replaceWith(running, options))
      this.#logger.info('revision deployed', { revisionId: revision.id });
    return true;
  }

  /** Lets the workers of this revision alone claim runs, if the deployment is not halted. Its tables may be new. */
  async #letClaim(access: StorageAccess, revisionId: string): Promise<void> {
    await this.#dependencies.databases.activateRevision(access, revisionId);
    await this.#halt.reapply();
    await this.#budgets.reapply();
  }

  #start(
    revision: RolloutRevision,
    access: StorageAccess,
    options: { isFirst: boolean; onBegin?: () => Promise<void> },
  ): Promise<RunningRevision> {
    const { driver, startSemaphore, deployTimeoutMs } = this.#dependencies;
    const { signal } = this.#working;
    const onUpstreams = () => this.#activeRevision.updateRoute(revision.id);
    return startSemaphore.run(signal, async () => {
      await options.onBegin?.();
      const spec = await makeSpec(this.#dependencies, revision, access, options);
      signal.throwIfAborted();
      if (this.#activeRevision.isStopped) throw new Error('stopped');
      return driver.start(spec, { signal, timeoutMs: deployTimeoutMs, onUpstreams });
    });
  }

  /** Removes builds that no running, latest or unfinished revision needs. */
  async #removeUnusedBuilds(): Promise<void> {
    const { store, builds } = this.#dependencies;
    if (this.#activeRevision.isDraining || this.#activeRevision.isStopped) return;
    try {
      await builds.keepOnly(this.#id, await store.revisionsInUse(this.#id));
    } catch (error) {
      this.#logger.warn('unused builds not removed', { error });
    }
  }

  async #remove(): Promise<StepResult> {
    const { store, databases, redis, removeFiles } = this.#dependencies;
    await this.stop(SHORT_GRACE_MS);
    try {
      await databases.drop(this.#id);
      await redis.remove(this.#id);
      await removeFiles(this.#id);
      await store.remove(this.#id);
    } catch (error) {
      this.#logger.error('deployment removal failed, will retry', { error });
      return 'retry';
    }
    this.#logger.info('deployment removed');
    return 'gone';
  }
}

function interrupt(work: AbortController): void {
  work.abort(new Error('interrupted'));
}
