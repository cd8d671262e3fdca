import { isUnavailable } from '@runyard/database';
import { failRevision, RevisionEndedError, reachStatus } from '@runyard/deployments';
import type { DeploymentWork, StepResult } from '@runyard/reconciler';
import { type Logger, UnavailableError } from '@runyard/service-kit';
import type { Revision } from '../generated/client.ts';
import type { BuildArchives } from './build-archives.ts';
import type { BuildQueue } from './build-queue.ts';
import { type BuildStore, isWaitingForBuild } from './build-store.ts';
import type { Builds } from './builds.ts';

export interface DeploymentBuildsDependencies {
  store: BuildStore;
  builds: Pick<Builds, 'prepare' | 'keepOnly'>;
  queue: Pick<BuildQueue, 'addNext'>;
  archives: Pick<BuildArchives, 'remove' | 'removeAll'>;
  logger: Logger;
}

/**
 * Gets the revisions of one deployment built, one after the other. The data plane decides when a revision is built
 * (`AWAITING_BUILD`) and continues the roll-out after the build (`AWAITING_DEPLOY`). Nobody waits here for a build: its
 * end wakes this deployment, and a sweep finds builds whose builder and job were lost.
 */
export class DeploymentBuilds implements DeploymentWork {
  readonly #id: string;
  readonly #dependencies: DeploymentBuildsDependencies;
  readonly #logger: Logger;
  /** Aborts the current preparation. */
  #working = new AbortController();
  /** The revision that is being prepared. */
  #workingOn: string | undefined;
  #isStopped = false;

  constructor(id: string, dependencies: DeploymentBuildsDependencies) {
    this.#id = id;
    this.#dependencies = dependencies;
    this.#logger = dependencies.logger.child({ deploymentId: id });
  }

  async wake(): Promise<void> {
    // The controller is read before the query, because the next preparation may begin meanwhile.
    const working = this.#working;
    const id = this.#workingOn;
    if (id === undefined) return;
    const next = await this.#dependencies.store.nextToBuild(this.#id);
    if (next?.id !== id) working.abort(new Error('interrupted'));
  }

  /** Looks at the deployment, and queues the next build of its organization, which may be that of another one. */
  async step(): Promise<StepResult> {
    const { store, queue } = this.#dependencies;
    const deployment = await store.find(this.#id);
    try {
      return await this.#step();
    } finally {
      if (deployment) await queue.addNext(deployment.organizationId);
    }
  }

  async #step(): Promise<StepResult> {
    const { store } = this.#dependencies;
    this.#working = new AbortController();
    const revision = await store.nextToBuild(this.#id);
    if (this.#isStopped) return 'settled';
    if (!revision) {
      await this.#removeUnusedBuilds();
      // With nothing left to build, this process gives up the deployment.
      return (await store.nextToBuild(this.#id)) ? 'retry' : 'gone';
    }
    if (await store.isBeingBuilt(revision.id)) return 'settled';
    this.#workingOn = revision.id;
    try {
      return (await this.#prepare(revision, this.#working.signal)) ? 'retry' : 'settled';
    } finally {
      this.#workingOn = undefined;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#working.abort(new Error('stopped'));
  }

  /** @returns true when the revision is built or has failed; false when it waits for a builder */
  async #prepare(revision: Revision, signal: AbortSignal): Promise<boolean> {
    const { store, builds } = this.#dependencies;
    try {
      const product = await builds.prepare(revision, signal);
      if (!product) {
        await store.awaitBuilder(revision.id);
        return false;
      }
      if (isWaitingForBuild(revision)) await reachStatus(store, revision, 'BUILDING');
      await store.finishBuild(revision, product);
    } catch (error) {
      // The process that takes over the deployment's builds continues with it.
      if (signal.aborted || error instanceof RevisionEndedError) return true;
      if (isUnavailable(error) || error instanceof UnavailableError) throw error;
      await store.moveRevision(revision, 'BUILDING');
      await failRevision(store, revision, error, this.#logger);
      await store.giveUp(revision);
    }
    return true;
  }

  /** Removes builds and images that no revision needs, or all of them when the deployment was deleted meanwhile. */
  async #removeUnusedBuilds(): Promise<void> {
    const { store, builds, archives } = this.#dependencies;
    try {
      if (!(await store.find(this.#id))) return await archives.removeAll(this.#id);
      const inUse = await store.revisionsInUse(this.#id);
      await builds.keepOnly(this.#id, inUse);
      for (const key of await store.dropBuilds(this.#id, inUse)) await archives.remove({ deploymentId: this.#id, key });
    } catch (error) {
      this.#logger.warn('unused builds not removed', { error });
    }
  }
}
