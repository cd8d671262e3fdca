import { once } from 'node:events';
import type { DeploymentSource, SourceRevisionConfig } from '@runyard/contracts';
import pRetry from 'p-retry';
import type { Artifacts, BuildName } from '../builds/artifacts.ts';
import { RevisionEndedError } from '../reconciler/revision-steps.ts';
import type { RolloutDependencies } from '../reconciler/rollout-dependencies.ts';
import { BuildError } from '../revisions/build-error.ts';
import type { Artifact } from '../revisions/driver.ts';
import { isImageSource } from '../revisions/image-sources.ts';
import { type LocalProject, openLocalDirectory } from '../revisions/local-directory.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';
import type { RolloutDeployment, RolloutRevision } from '../revisions/rollout-store.ts';
import type { ControlPlaneClient } from './control-plane-client.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';
import type { RemoteRolloutStore } from './remote-rollout-store.ts';
import { unpackBuild } from './unpack-build.ts';

type RolloutBuilds = RolloutDependencies['builds'];

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
    const { store, artifacts } = this.#options;
    const { image, build } = store.currentRevision(id) ?? {};
    if (!this.isBuilt(source)) return null;
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
  async build(
    _: RolloutDeployment,
    { id, deploymentId }: RolloutRevision,
    { signal }: { signal: AbortSignal },
  ): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const now = store.currentRevision(id);
      if (now?.image) return;
      if (now?.build) return this.#fetch(id, { deploymentId, key: now.build.key }, signal);
      // The build of a revision that serves may have to be made again. It may fail, and newer revisions wait meanwhile.
      const isServing = now?.status === 'DEPLOYED';
      if (!now || (TERMINAL.includes(now.status) && !isServing)) throw new RevisionEndedError();
      const limit = isServing ? [AbortSignal.timeout(AGAIN_MS)] : [];
      await once(store.changes, 'change', { signal: AbortSignal.any([signal, ...limit]) });
    }
  }

  async useFolder(_: RolloutRevision, project: LocalProject): Promise<Artifact> {
    return { kind: 'project', project };
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
