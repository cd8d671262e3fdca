import { once } from 'node:events';
import { RevisionEndedError } from '../reconciler/revision-steps.ts';
import type { RolloutDependencies } from '../reconciler/rollout-dependencies.ts';
import { isBuiltSource } from '../revisions/built-sources.ts';
import type { Artifact } from '../revisions/driver.ts';
import { isImageSource } from '../revisions/image-sources.ts';
import type { LocalProject } from '../revisions/local-directory.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';
import type { RolloutDeployment, RolloutRevision } from '../revisions/rollout-store.ts';
import type { RemoteRolloutStore } from './remote-rollout-store.ts';

type RolloutBuilds = RolloutDependencies['builds'];

/** Waits for images that the platform builds for this data plane. Folders of this machine need no build. */
export class PlatformBuilds implements RolloutBuilds {
  readonly #store: Pick<RemoteRolloutStore, 'currentRevision' | 'changes'>;
  readonly #runsProjects: boolean;

  /** @param options.runsProjects false: the platform makes images of folders too */
  constructor(
    store: Pick<RemoteRolloutStore, 'currentRevision' | 'changes'>,
    { runsProjects }: { runsProjects: boolean },
  ) {
    this.#store = store;
    this.#runsProjects = runsProjects;
  }

  isBuilt(source: string): boolean {
    return isBuiltSource(source) || (!this.#runsProjects && !isImageSource(source));
  }

  kindOf({ source }: RolloutRevision): Artifact['kind'] {
    return isImageSource(source) || this.isBuilt(source) ? 'image' : 'project';
  }

  async find({ id, source }: RolloutRevision): Promise<Artifact | null> {
    const image = this.#store.currentRevision(id)?.image;
    if (!image || !this.isBuilt(source)) return null;
    const { uri: imageUri, settings, architecture } = image;
    return { kind: 'image', imageUri, settings, architecture };
  }

  /**
   * Waits until the platform has built the revision. The revision's status tells the platform to build it.
   *
   * @throws RevisionEndedError when it will never be built; an AbortError when the signal aborts
   */
  async build(_: RolloutDeployment, { id }: RolloutRevision, { signal }: { signal: AbortSignal }): Promise<void> {
    for (;;) {
      const now = this.#store.currentRevision(id);
      if (now?.image) return;
      if (!now || TERMINAL.includes(now.status)) throw new RevisionEndedError();
      await once(this.#store.changes, 'change', { signal });
    }
  }

  async useFolder(_: RolloutRevision, project: LocalProject): Promise<Artifact> {
    return { kind: 'project', project };
  }

  /** Does nothing, as no builds are stored here. */
  async keepOnly(): Promise<void> {}
}
