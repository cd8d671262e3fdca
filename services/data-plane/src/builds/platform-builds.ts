import { once } from 'node:events';
import type { DeploymentSource, DesiredRevision, SourceRevisionConfig } from '@runyard/contracts';
import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import type { Artifact, Artifacts, BuildName, RolloutRevision } from '@runyard/deployments';
import { BuildError, isImageSource, openLocalDirectory, RevisionEndedError } from '@runyard/deployments';
import pRetry from 'p-retry';
import type { ControlPlaneClient } from '../link/control-plane-client.ts';
import type { ControlPlaneLink } from '../link/control-plane-link.ts';
import type { RolloutBuilds } from '../roll-outs/rollout-dependencies.ts';
import type { RemoteRolloutStore } from '../state/remote-rollout-store.ts';
import { unpackBuild } from './unpack-build.ts';

/** Milliseconds to wait at once for the build of a revision that serves. */
const AGAIN_MS = 30_000;
/** For connections that break. */
const ATTEMPTS = { retries: 5, minTimeout: 500, maxTimeout: 5_000 };

export interface PlatformBuildsOptions {
  store: Pick<RemoteRolloutStore, 'currentRevision' | 'changes'>;
  client: Pick<ControlPlaneClient, 'fetchBuild'>;
  link: Pick<ControlPlaneLink, 'sendUntilAccepted'>;
  artifacts: Artifacts;
  /** The sources that the platform builds for this data plane. */
  sources: readonly DeploymentSource[];
  /** True when what it builds of the platform's own deployments runs as processes, and not from images. */
  runsProjects: boolean;
}

/**
 * Waits for what the platform builds for this data plane: images, or projects, which are fetched and kept here. Other
 * folders of this machine need no build.
 */
export class PlatformBuilds implements RolloutBuilds {
  readonly #options: PlatformBuildsOptions;

  constructor(options: PlatformBuildsOptions) {
    this.#options = options;
  }

  isBuilt(source: string): boolean {
    return this.#options.sources.some((built) => built === source);
  }

  kindOf({ source }: RolloutRevision): Artifact['kind'] {
    return isImageSource(source) || (this.isBuilt(source) && !this.#options.runsProjects) ? 'image' : 'project';
  }

  async find({ id, deploymentId, source, sourceRevisionConfig }: RolloutRevision): Promise<Artifact | null> {
    const { artifacts } = this.#options;
    if (!this.isBuilt(source)) return null;
    const { image, build } = this.#builtAs(id);
    if (image) {
      const { uri: imageUri, settings, architecture } = image;
      return { kind: 'image', imageUri, settings, architecture };
    }
    const folder = build ? await artifacts.find({ deploymentId, key: build.key }) : null;
    if (folder === null) return null;
    const { langgraph_config_path } = sourceRevisionConfig as SourceRevisionConfig;
    const project = { project_path: folder, ...(langgraph_config_path != null && { langgraph_config_path }) };
    return { kind: 'project', project: await openLocalDirectory(project, { isBuilt: true }) };
  }

  /**
   * Waits until the platform has built the revision, and fetches what is to run from here. The revision's status tells
   * the platform to build it.
   *
   * @throws RevisionEndedError when it will never be built; an AbortError when the signal aborts, or for one that serves after a while
   */
  async build({ id, deploymentId }: RolloutRevision, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const now = store.currentRevision(id);
      const { image, build } = this.#builtAs(id);
      if (image) return;
      if (build) return this.#fetch(id, { deploymentId, key: build.key }, signal);
      // The build of a revision that serves may have to be made again. It may fail, and newer revisions wait meanwhile.
      const isServing = now?.status === 'DEPLOYED';
      if (!now || (FINAL_REVISION_STATUSES.includes(now.status) && !isServing)) throw new RevisionEndedError();
      const limit = isServing ? [AbortSignal.timeout(AGAIN_MS)] : [];
      await once(store.changes, 'change', { signal: AbortSignal.any([signal, ...limit]) });
    }
  }

  /** Returns the build of the revision, of the kind that is run here: it may have been built for another `DRIVER`. */
  #builtAs(id: string): Pick<DesiredRevision, 'image' | 'build'> {
    const { store, runsProjects } = this.#options;
    const { image, build } = store.currentRevision(id) ?? {};
    return runsProjects ? { ...(build && { build }) } : { ...(image && { image }) };
  }

  async keepOnly(deploymentId: string, revisions: RolloutRevision[]): Promise<void> {
    const { store, artifacts } = this.#options;
    const keys = revisions.flatMap(({ id }) => store.currentRevision(id)?.build?.key ?? []);
    await artifacts.keepOnly(deploymentId, keys);
  }

  /** @throws BuildError when it could not be fetched in several attempts; the signal's reason when the signal aborts */
  async #fetch(revisionId: string, name: BuildName, signal: AbortSignal): Promise<void> {
    const { client, link, artifacts } = this.#options;
    if ((await artifacts.find(name)) !== null) return;
    const fetchOnce = async () => {
      const archive = await link.sendUntilAccepted(
        (epoch, stopped) => client.fetchBuild(revisionId, epoch, AbortSignal.any([signal, stopped])),
        signal,
      );
      const folder = await artifacts.begin(name);
      await unpackBuild(archive, folder, signal);
      await artifacts.complete(name, folder);
    };
    try {
      await pRetry(fetchOnce, { ...ATTEMPTS, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new BuildError(`The build could not be fetched: ${(error as Error).message}`, { cause: error });
    }
  }
}
