import { BuildFailure } from '../builds/build-failure.ts';
import type { ImageArtifact } from '../drivers/driver.ts';
import type { LocalProject } from '../sources/local-directory.ts';
import type { BaseImage } from './base-image.ts';
import type { ProjectImages } from './project-images.ts';

/** A revision whose project is to run as an image. */
export interface Imaged {
  id: string;
  deploymentId: string;
}

/** Looks at the base image as it is now. @throws BuildFailure */
export type OpenBase = (signal: AbortSignal) => Promise<BaseImage>;

/** Of a digest, enough to tell it from others. */
const SHORT = 12;

/**
 * The images of revisions whose projects run in a cluster, or elsewhere. A revision has one, made once: it stays on the base that it was made on.
 * Revisions of the same build on the same base have the same.
 */
export class RevisionImages {
  readonly #images: ProjectImages;
  readonly #openBase: OpenBase | undefined;

  /** @param openBase undefined: no base is named, and nothing can be made */
  constructor(images: ProjectImages, openBase: OpenBase | undefined) {
    this.#images = images;
    this.#openBase = openBase;
  }

  find({ deploymentId, id }: Imaged): Promise<ImageArtifact | null> {
    return this.#images.find(deploymentId, id);
  }

  /**
   * Begins before anything is built: without a base that would be in vain.
   *
   * @param build what tells the build from others of the deployment
   * @returns null when the revision has its image, made for it or for an earlier one; else what makes it
   * @throws BuildFailure when there is no base
   */
  async begin(
    { deploymentId, id }: Imaged,
    build: string,
    signal: AbortSignal,
  ): Promise<((project: LocalProject, say: (line: string) => void) => Promise<ImageArtifact>) | null> {
    if (await this.#images.find(deploymentId, id)) return null;
    const base = await this.#base(signal);
    const shared = `${build}-${base.digest.slice('sha256:'.length).slice(0, SHORT)}`;
    if (await this.#images.share(deploymentId, shared, id)) return null;
    return (project, say) => this.#images.make({ deploymentId, project, base, tags: [id, shared], say, signal });
  }

  /** @throws ObjectStorageUnavailableError while no image could be made, since what they are kept in is away */
  checkStorage({ deploymentId }: Imaged, signal: AbortSignal): Promise<void> {
    return this.#images.checkStorage(deploymentId, signal);
  }

  /** Of a folder that is run as it is. */
  async ofFolder(
    { deploymentId, id }: Imaged,
    project: LocalProject,
    { say, signal }: { say: (line: string) => void; signal: AbortSignal },
  ): Promise<ImageArtifact> {
    const base = await this.#base(signal);
    return this.#images.make({ deploymentId, project, base, tags: [id], say, signal });
  }

  /** Removes the images of other revisions, and of other builds. */
  keepOnly(deploymentId: string, revisionIds: string[], builds: string[]): Promise<void> {
    const isOfBuild = (tag: string) => builds.some((build) => tag.startsWith(`${build}-`));
    return this.#images.keepOnly(deploymentId, (tag) => revisionIds.includes(tag) || isOfBuild(tag));
  }

  async #base(signal: AbortSignal): Promise<BaseImage> {
    if (this.#openBase) return this.#openBase(signal);
    throw new BuildFailure(
      'The project is to run as an image, and PROJECT_BASE_IMAGE, the image that projects are put on, is not set: ' +
        'ask whoever runs this platform, or deploy an image',
    );
  }
}
