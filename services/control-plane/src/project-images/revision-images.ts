import type { ImageArtifact, LocalProject } from '@runyard/deployments';
import { BuildError } from '@runyard/deployments';
import type { BaseImage } from './base-image.ts';
import type { ProjectImages } from './project-images.ts';

/** A revision whose project runs as an image. */
export interface ImageRevision {
  id: string;
  deploymentId: string;
}

/** Opens the current base image. @throws BuildError */
export type OpenBase = (signal: AbortSignal) => Promise<BaseImage>;

/** Digits of a digest that suffice in a tag. */
const TAG_DIGITS = 12;

/**
 * Manages the images of revisions whose projects run in a cluster or on a remote data plane. A revision has one image,
 * made once: it keeps the base it was made on. Revisions with the same build and base share an image.
 */
export class RevisionImages {
  readonly #images: ProjectImages;
  readonly #openBase: OpenBase | undefined;

  /** @param openBase undefined when no base is configured; then no image can be made */
  constructor(images: ProjectImages, openBase: OpenBase | undefined) {
    this.#images = images;
    this.#openBase = openBase;
  }

  find({ deploymentId, id }: ImageRevision): Promise<ImageArtifact | null> {
    return this.#images.find(deploymentId, id);
  }

  /**
   * Prepares an image before the build, which would be in vain without a base.
   *
   * @param build identifies the build within the deployment
   * @returns null when the revision has an image, its own or a shared one; otherwise the function that makes it
   * @throws BuildError when there is no base
   */
  async begin(
    { deploymentId, id }: ImageRevision,
    build: string,
    signal: AbortSignal,
  ): Promise<((project: LocalProject, say: (line: string) => void) => Promise<ImageArtifact>) | null> {
    if (await this.#images.find(deploymentId, id)) return null;
    const base = await this.#base(signal);
    const shared = `${build}-${base.digest.slice('sha256:'.length).slice(0, TAG_DIGITS)}`;
    if (await this.#images.share(deploymentId, shared, id)) return null;
    return (project, say) => this.#images.make({ deploymentId, project, base, tags: [shared, id], say, signal });
  }

  /** @throws RegistryUnavailableError while images cannot be stored */
  checkStorage(signal: AbortSignal): Promise<void> {
    return this.#images.checkStorage(signal);
  }

  /** Makes the image of a project that needs no build. */
  async makeFromFolder(
    { deploymentId, id }: ImageRevision,
    project: LocalProject,
    { say, signal }: { say: (line: string) => void; signal: AbortSignal },
  ): Promise<ImageArtifact> {
    const base = await this.#base(signal);
    return this.#images.make({ deploymentId, project, base, tags: [id], say, signal });
  }

  /** Removes the images of all other revisions and builds. */
  keepOnly(deploymentId: string, revisionIds: string[], builds: string[]): Promise<void> {
    const isOfBuild = (tag: string) => builds.some((build) => tag.startsWith(`${build}-`));
    return this.#images.keepOnly(deploymentId, (tag) => revisionIds.includes(tag) || isOfBuild(tag));
  }

  async #base(signal: AbortSignal): Promise<BaseImage> {
    if (this.#openBase) return this.#openBase(signal);
    throw new BuildError(
      'The project is to run as an image, and PROJECT_BASE_IMAGE, the image that projects are put on, is not set: ' +
        'ask whoever runs this platform, or deploy an image',
    );
  }
}
