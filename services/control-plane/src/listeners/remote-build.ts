import { isUnavailable } from '@runyard/database';
import type { Artifact, RolloutDeployment, RolloutRevision } from '@runyard/deployments';
import { BuildError, failRevision, openFolderOf, RevisionEndedError, reachStatus } from '@runyard/deployments';
import type { DeploymentWork, StepResult } from '@runyard/reconciler';
import { type Logger, UnavailableError } from '@runyard/service-kit';
import type { BuildArchives } from '../builds/build-archives.ts';
import type { Builds } from '../builds/builds.ts';
import { type BuildProduct, isWaitingForBuild, type RemoteBuildStore } from './remote-build-store.ts';

export interface RemoteBuildDependencies {
  store: RemoteBuildStore;
  builds: Pick<Builds, 'isBuilt' | 'keyOf' | 'build' | 'find' | 'useFolder' | 'keepOnly' | 'remove'>;
  archives: Pick<BuildArchives, 'has' | 'store' | 'remove' | 'removeAll'>;
  logger: Logger;
}

/**
 * Builds the images of one remote deployment. The data plane decides when a revision is built (`AWAITING_BUILD`) and
 * continues the roll-out after the build (`AWAITING_DEPLOY`).
 */
export class RemoteBuild implements DeploymentWork {
  readonly #id: string;
  readonly #dependencies: RemoteBuildDependencies;
  readonly #logger: Logger;
  /** Aborts the current build. */
  #working = new AbortController();
  /** The revision of the current build. */
  #workingOn: string | undefined;
  #isStopped = false;

  constructor(id: string, dependencies: RemoteBuildDependencies) {
    this.#id = id;
    this.#dependencies = dependencies;
    this.#logger = dependencies.logger.child({ deploymentId: id });
  }

  async wake(): Promise<void> {
    // The controller is read before the query, because the next build may begin meanwhile.
    const working = this.#working;
    const id = this.#workingOn;
    if (id === undefined) return;
    const next = await this.#dependencies.store.nextToBuild(this.#id);
    if (next?.id !== id) working.abort(new Error('interrupted'));
  }

  async step(): Promise<StepResult> {
    const { store } = this.#dependencies;
    this.#working = new AbortController();
    const revision = await store.nextToBuild(this.#id);
    this.#workingOn = revision?.id;
    if (this.#isStopped) return 'settled';
    if (revision) await this.#build(revision, this.#working.signal);
    await this.#removeUnusedBuilds();
    // With nothing left to build, this process gives up the deployment.
    return (await store.nextToBuild(this.#id)) ? 'retry' : 'gone';
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#working.abort(new Error('stopped'));
  }

  async #build(revision: RolloutRevision, signal: AbortSignal): Promise<void> {
    const { store } = this.#dependencies;
    try {
      const deployment = await store.find(this.#id);
      if (!deployment) return;
      await store.finishBuild(revision, await this.#make(deployment, revision, signal));
    } catch (error) {
      // The process that takes over the deployment's builds continues with it.
      if (signal.aborted || error instanceof RevisionEndedError) return;
      if (!(error instanceof BuildError) && (isUnavailable(error) || error instanceof UnavailableError)) throw error;
      await failRevision(store, revision, error, this.#logger);
      // The status of a revision that serves is final: this process tries its build once.
      store.giveUp(revision);
    }
  }

  async #make(deployment: RolloutDeployment, revision: RolloutRevision, signal: AbortSignal): Promise<BuildProduct> {
    const artifact = await this.#makeArtifact(deployment, revision, signal);
    if (!artifact) throw new Error(`the build of revision ${revision.id} is gone`);
    if (artifact.kind === 'image') {
      const { imageUri: uri, settings, architecture } = artifact;
      return { uri, settings, architecture };
    }
    const { builds, archives } = this.#dependencies;
    const key = await builds.keyOf(revision);
    if (!(await archives.has({ deploymentId: this.#id, key }, signal))) {
      const say = (line: string) => this.#logger.info(line, { revisionId: revision.id });
      await archives.store({ deploymentId: this.#id, key }, artifact.project.directory, { say, signal });
    }
    return { key };
  }

  async #makeArtifact(
    deployment: RolloutDeployment,
    revision: RolloutRevision,
    signal: AbortSignal,
  ): Promise<Artifact | null> {
    const { store, builds } = this.#dependencies;
    const onBegin = async () => {
      if (isWaitingForBuild(revision)) await reachStatus(store, revision, 'BUILDING');
    };
    if (!builds.isBuilt(revision.source)) {
      await onBegin();
      return builds.useFolder(revision, await openFolderOf(revision), signal);
    }
    await builds.build(deployment, revision, { signal, onBegin });
    return builds.find(revision);
  }

  /** Removes builds and images that no revision needs, or all of them when the deployment was deleted meanwhile. */
  async #removeUnusedBuilds(): Promise<void> {
    const { store, builds, archives } = this.#dependencies;
    try {
      if (!(await store.find(this.#id))) {
        await builds.remove(this.#id);
        return await archives.removeAll(this.#id);
      }
      const inUse = await store.revisionsInUse(this.#id);
      await builds.keepOnly(this.#id, inUse);
      for (const key of await store.dropBuilds(this.#id, inUse)) await archives.remove({ deploymentId: this.#id, key });
    } catch (error) {
      this.#logger.warn('unused builds not removed', { error });
    }
  }
}
