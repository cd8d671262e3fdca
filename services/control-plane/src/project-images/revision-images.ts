import type { ImageArtifact } from '@runyard/deployments';
import { BuildError } from '@runyard/deployments';
import type { BaseImage } from './base-image.ts';
import type { BuiltProject, ProjectImages } from './project-images.ts';

/** A revision whose project runs as an image. */
export interface ImageRevision {
  id: string;
  deploymentId: string;
}

/** Opens the current base image. @throws BuildError */
export type OpenBase = (signal: AbortSignal) => Promise<BaseImage>;

interface Progress {
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Digits of a digest that suffice in a tag. */
const TAG_DIGITS = 12;

/**
 * Manages the images of revisions whose projects run in a cluster or on a remote data plane. A revision has one image,
 * made once. Revisions with the same build and base share an image.
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
   * Prepares an image before the build, which would be in vain without a base: fetches what the registry lacks of that.
   *
   * @param build identifies the build within the deployment; null for a project whose images are not shared
   * @returns the revision's image when it has one, its own or a shared one; null when it has to be made
   * @throws BuildError when there is no base
   */
  async prepare(
    { deploymentId, id }: ImageRevision,
    build: string | null,
    { say, signal }: Progress,
  ): Promise<ImageArtifact | null> {
    const own = build === null ? null : await this.#images.find(deploymentId, id);
    if (own) return own;
    const base = await this.#base(signal);
    if (build !== null && (await this.#images.share(deploymentId, sharedTag(build, base), id)))
      return this.#images.find(deploymentId, id);
    await this.#images.prepareBase(deploymentId, base, { say, signal });
    return null;
  }

  /** Returns the architecture that packages of a project have to be installed for. @throws BuildError */
  async findArchitecture(signal: AbortSignal): Promise<string> {
    return (await this.#base(signal)).config.architecture;
  }

  /** Returns a token with which a builder pushes the layer of a project, and nothing else. */
  issuePushToken(deploymentId: string): string {
    return this.#images.issuePushToken(deploymentId);
  }

  /** @throws RegistryUnavailableError while images cannot be stored */
  checkStorage(signal: AbortSignal): Promise<void> {
    return this.#images.checkStorage(signal);
  }

  /**
   * Makes the image of a project, whose layer is in the deployment's repository.
   *
   * @throws BuildError; RegistryUnavailableError; RegistryRefusedError when the layer is gone
   */
  async make(
    { deploymentId, id }: ImageRevision,
    build: string | null,
    project: BuiltProject,
    { say, signal }: Progress,
  ): Promise<ImageArtifact> {
    const base = await this.#base(signal);
    const tags = build === null ? [id] : [sharedTag(build, base), id];
    return this.#images.make({ deploymentId, project, base, tags, say, signal });
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

function sharedTag(build: string, { digest }: BaseImage): string {
  return `${build}-${digest.slice('sha256:'.length).slice(0, TAG_DIGITS)}`;
}
