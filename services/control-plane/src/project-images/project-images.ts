import { Readable } from 'node:stream';
import type { BuildEnd } from '@runyard/contracts';
import type { ImageArtifact } from '@runyard/deployments';
import { BuildError } from '@runyard/deployments';
import {
  digestOf,
  type ImageRepositories,
  type ImageRepository,
  isBlobGone,
  PROJECT_REPOSITORY,
  type RegistryAddress,
  RegistryRefusedError,
} from '@runyard/image-registry';
import type { BaseImage } from './base-image.ts';
import type { BaseLayers } from './base-layers.ts';
import { composeImage } from './image-composition.ts';
import { MANIFEST_TYPE } from './image-content.ts';

export interface ProjectImagesOptions {
  repositories: ImageRepositories;
  baseLayers: BaseLayers;
  address: RegistryAddress;
}

/** A project that a builder has pushed as a layer to the deployment's repository. */
export type BuiltProject = Omit<Extract<BuildEnd, { kind: 'layer' }>, 'kind'>;

export interface ImageOrder {
  deploymentId: string;
  project: BuiltProject;
  base: BaseImage;
  /** Tags by which the image is found again. Whoever finds the last one finds the others too. */
  tags: string[];
  say: (line: string) => void;
  signal: AbortSignal;
}

/**
 * The annotation with those variables of the project that tune the platform's services: whoever starts a container has
 * to know them before.
 */
const SETTINGS = 'io.runyard.settings';
/** The annotation with the architecture: packages that were installed for one run on no other. */
const ARCHITECTURE = 'io.runyard.architecture';
/**
 * Makes images of projects, in the platform's own registry: the base image with the project's folder as one more layer.
 */
export class ProjectImages {
  readonly #options: ProjectImagesOptions;

  constructor(options: ProjectImagesOptions) {
    this.#options = options;
  }

  /** Returns the deployment's image with the tag; null when there is none. */
  async find(deploymentId: string, tag: string): Promise<ImageArtifact | null> {
    const found = await this.#open(deploymentId, false).manifest(tag);
    return found && this.#artifactOf(deploymentId, found.digest, found.content);
  }

  /** Adds another tag to the image with a tag. @returns whether there is such an image */
  async share(deploymentId: string, tag: string, other: string): Promise<boolean> {
    const repository = this.#open(deploymentId, true);
    const found = await repository.manifest(tag);
    if (!found) return false;
    try {
      await tagManifest(repository, found.content, other);
      return true;
    } catch (error) {
      // The image was deleted in between.
      if (isBlobGone(error)) return false;
      throw error;
    }
  }

  /** @throws RegistryUnavailableError while images cannot be stored */
  checkStorage(signal: AbortSignal): Promise<void> {
    return this.#options.repositories.checkAvailable(signal);
  }

  /** Gives the deployment's repository the layers of a base, and fetches those that the registry lacks. */
  async prepareBase(
    deploymentId: string,
    base: BaseImage,
    progress: { say: (line: string) => void; signal: AbortSignal },
  ): Promise<void> {
    await this.#options.baseLayers.ensure(base, this.#open(deploymentId, true), progress);
  }

  /** Returns a token for pushing to the deployment's repository of projects. */
  issuePushToken(deploymentId: string): string {
    return this.#options.repositories.issueToken({ deploymentId, name: PROJECT_REPOSITORY }, { mayPush: true });
  }

  /**
   * Makes an image of a pushed project. A repetition after an interruption at any point gives the same image.
   *
   * @throws BuildError when the base cannot be read; RegistryUnavailableError; RegistryRefusedError when the project is
   * gone, as an older image that had the same layer was deleted with it
   */
  async make(order: ImageOrder): Promise<ImageArtifact> {
    try {
      return await this.#make(order);
    } catch (error) {
      if (!(error instanceof RegistryRefusedError) || isBlobGone(error)) throw error;
      throw new BuildError(error.message, { cause: error });
    }
  }

  async #make({ deploymentId, project, base, tags, say, signal }: ImageOrder): Promise<ImageArtifact> {
    const repository = this.#open(deploymentId, true);
    const pushed = [project.digest];
    try {
      await this.#options.baseLayers.ensure(base, repository, { say, signal });
      const { digest, size, diff_id: diffId, variables: env, settings } = project;
      const { config, manifest } = composeImage(base, {
        layer: { digest, size, diffId },
        env,
        annotations: { [SETTINGS]: JSON.stringify(settings), [ARCHITECTURE]: base.config.architecture },
      });
      const { digest: configDigest } = await repository.push(Readable.from([config]), { signal });
      pushed.push(configDigest);
      for (const tag of tags) await tagManifest(repository, manifest, tag);
      const image = digestOf(manifest);
      say(`Made the image ${image}, ${size} bytes of it the project`);
      return this.#artifactOf(deploymentId, image, manifest);
    } catch (error) {
      // While the registry is away, the builder asks again with the same layer.
      if (error instanceof RegistryRefusedError || error instanceof BuildError)
        for (const digest of pushed) await repository.deleteBlob(digest).catch(() => undefined);
      throw error;
    }
  }

  /** Removes the deployment's images without such a tag, except those that a revision names by themselves. */
  async keepOnly(deploymentId: string, isKept: (tag: string) => boolean): Promise<void> {
    const repository = this.#open(deploymentId, true);
    for (const tag of await repository.tags()) if (!isKept(tag)) await repository.deleteManifest(tag);
  }

  #open(deploymentId: string, mayPush: boolean): ImageRepository {
    return this.#options.repositories.open({ deploymentId, name: PROJECT_REPOSITORY }, { mayPush });
  }

  #artifactOf(deploymentId: string, digest: string, manifest: Buffer): ImageArtifact {
    const { annotations } = JSON.parse(manifest.toString('utf8')) as { annotations: Record<string, string> };
    return {
      kind: 'image',
      imageUri: `${this.#options.address.imagesOf(deploymentId)}/${PROJECT_REPOSITORY}@${digest}`,
      settings: JSON.parse(annotations[SETTINGS] ?? '{}'),
      architecture: annotations[ARCHITECTURE]!,
    };
  }
}

/**
 * Gives an image a tag, which is never without one. An image that had it is removed, unless it has another one: after a
 * crash in between it has a tag that `keepOnly` does not keep.
 */
async function tagManifest(repository: ImageRepository, manifest: Buffer, tag: string): Promise<void> {
  const before = await repository.manifest(tag);
  const isMoved = before !== null && before.digest !== digestOf(manifest);
  const former = `former-${tag}`;
  if (isMoved) await repository.putManifest(former, before.content, MANIFEST_TYPE);
  await repository.putManifest(tag, manifest, MANIFEST_TYPE);
  if (isMoved) await repository.deleteManifest(former);
}
