import { Readable } from 'node:stream';
import type { PlatformImage, ProjectLayer } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { digestOf, PROJECT_REPOSITORY, type RegistryAddress } from '@runyard/image-registry';
import type { BaseImage } from '../base-images/base-image.ts';
import { BaseLayers } from '../base-images/base-layers.ts';
import { MANIFEST_TYPE } from '../base-images/image-content.ts';
import type { OpenBase } from '../base-images/open-base-image.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { ImageDeletion } from '../collection/image-deletion.ts';
import type { ImageOwners } from '../deployments/image-owners.ts';
import type { Manifests } from '../manifests/manifests.ts';
import { RegistryError } from '../registry-error.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import type { RegistryStore } from '../stored-images/registry-store.ts';
import { composeImage } from './image-composition.ts';

export interface ProjectImagesOptions {
  store: Pick<RegistryStore, 'findManifest' | 'tags'>;
  blobs: Blobs;
  manifests: Pick<Manifests, 'put'>;
  deletion: Pick<ImageDeletion, 'delete' | 'deleteBlob'>;
  owners: Pick<ImageOwners, 'find'>;
  address: RegistryAddress;
  openBase: OpenBase;
}

/** A revision whose project runs as an image. */
export interface ImageRevision {
  id: string;
  deploymentId: string;
  /** Identifies the build within the deployment; null for a project whose image no other revision shares. */
  build: string | null;
}

export interface Progress {
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
/** Digits of a digest that suffice in a tag. */
const TAG_DIGITS = 12;
/** Tags that are looked at together. */
const TAGS_PER_PAGE = 1_000;

/**
 * Makes images of projects: the base image with the project's folder as one more layer, which a builder has pushed. A
 * revision has one image, made once. Revisions with the same build and base share an image.
 */
export class ProjectImages {
  readonly #options: ProjectImagesOptions;
  readonly #baseLayers: BaseLayers;

  constructor(options: ProjectImagesOptions) {
    this.#options = options;
    this.#baseLayers = new BaseLayers(options.blobs);
  }

  /** Returns the architecture that packages of a project have to be installed for. @throws BuildError */
  async findArchitecture(signal: AbortSignal): Promise<string> {
    return (await this.#options.openBase(signal)).config.architecture;
  }

  /**
   * Prepares an image before the build, which would be in vain without a base: fetches what is not here yet of that.
   *
   * @returns the revision's image when it has one, its own or a shared one; null when it has to be made
   * @throws BuildError when there is no base; UnavailableError
   */
  async prepare(revision: ImageRevision, { say, signal }: Progress): Promise<PlatformImage | null> {
    const { deploymentId, id, build } = revision;
    const own = build === null ? null : await this.#find(deploymentId, id);
    if (own) return own;
    const base = await this.#options.openBase(signal);
    const owner = await this.#requireOwner(deploymentId);
    if (build !== null && (await this.#share(owner, sharedTag(build, base), id))) return this.#find(deploymentId, id);
    await this.#baseLayers.ensure(base, deploymentId, { say, signal });
    return null;
  }

  /**
   * Makes the image of a project. A repetition after an interruption at any point gives the same image.
   *
   * @returns null when the layer is gone, as an older image that had the same one was deleted with it
   * @throws BuildError; UnavailableError
   */
  async make(revision: ImageRevision, layer: ProjectLayer, { say, signal }: Progress): Promise<PlatformImage | null> {
    const { deploymentId, id, build } = revision;
    const base = await this.#options.openBase(signal);
    const owner = await this.#requireOwner(deploymentId);
    await this.#baseLayers.ensure(base, deploymentId, { say, signal });
    const { config, manifest } = composeImage(base, {
      layer: { digest: layer.digest, size: layer.size, diffId: layer.diff_id },
      env: layer.variables,
      annotations: { [SETTINGS]: JSON.stringify(layer.settings), [ARCHITECTURE]: base.config.architecture },
    });
    const configDigest = digestOf(config);
    try {
      await this.#options.blobs.store(owner, Readable.from([config]), configDigest);
      // Whoever finds the last tag finds the image by the others too.
      for (const tag of build === null ? [id] : [sharedTag(build, base), id])
        await this.#tagManifest(owner, manifest, tag);
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      for (const digest of [layer.digest, configDigest])
        await unlessRefused(this.#options.deletion.deleteBlob(deploymentId, digest));
      if (isBlobGone(error)) return null;
      throw new BuildError(error.message, { cause: error });
    }
    say(`Made the image ${digestOf(manifest)}, ${layer.size} bytes of it the project`);
    return this.#describe(deploymentId, manifest);
  }

  /**
   * Removes the deployment's images that are neither of these revisions nor of these builds, except those that a
   * revision names by themselves.
   */
  async keepOnly(deploymentId: string, revisionIds: readonly string[], builds: readonly string[]): Promise<void> {
    const repository = { deploymentId, name: PROJECT_REPOSITORY };
    const isKept = (tag: string) => revisionIds.includes(tag) || builds.some((build) => tag.startsWith(`${build}-`));
    for (let last: string | undefined; ; ) {
      const page = { count: TAGS_PER_PAGE, ...(last !== undefined && { last }) };
      const tags = (await this.#options.store.tags(repository, page)) ?? [];
      for (const tag of tags) if (!isKept(tag)) await unlessRefused(this.#options.deletion.delete(repository, tag));
      if (tags.length < TAGS_PER_PAGE) return;
      last = tags.at(-1);
    }
  }

  async #find(deploymentId: string, tag: string): Promise<PlatformImage | null> {
    const found = await this.#options.store.findManifest({ deploymentId, name: PROJECT_REPOSITORY }, tag);
    return found && this.#describe(deploymentId, Buffer.from(found.content));
  }

  /** Adds another tag to the image with a tag. @returns whether there is such an image */
  async #share(owner: ImageOwner, tag: string, other: string): Promise<boolean> {
    const repository = { deploymentId: owner.deploymentId, name: PROJECT_REPOSITORY };
    const found = await this.#options.store.findManifest(repository, tag);
    if (!found) return false;
    try {
      await this.#tagManifest(owner, Buffer.from(found.content), other);
      return true;
    } catch (error) {
      // The image was deleted in between.
      if (isBlobGone(error)) return false;
      throw error;
    }
  }

  /**
   * Gives an image a tag, which is never without one. An image that had it is removed, unless it has another one: after
   * a crash in between it has a tag that `keepOnly` does not keep.
   */
  async #tagManifest(owner: ImageOwner, manifest: Buffer, tag: string): Promise<void> {
    const { store, manifests, deletion } = this.#options;
    const repository = { deploymentId: owner.deploymentId, name: PROJECT_REPOSITORY };
    const place = { owner, name: PROJECT_REPOSITORY };
    const before = await store.findManifest(repository, tag);
    const isMoved = before !== null && before.digest !== digestOf(manifest);
    const former = `former-${tag}`;
    if (isMoved) await manifests.put(place, former, Buffer.from(before.content), MANIFEST_TYPE);
    await manifests.put(place, tag, manifest, MANIFEST_TYPE);
    if (isMoved) await unlessRefused(deletion.delete(repository, former));
  }

  /** @throws BuildError for a deployment that is being deleted; UnavailableError when control-plane does not say so */
  async #requireOwner(deploymentId: string): Promise<ImageOwner> {
    const owner = await this.#options.owners.find(deploymentId, true);
    if (owner) return owner;
    throw new BuildError('Its deployment does not exist any more');
  }

  #describe(deploymentId: string, manifest: Buffer): PlatformImage {
    const { annotations } = JSON.parse(manifest.toString('utf8')) as { annotations: Record<string, string> };
    return {
      uri: `${this.#options.address.imagesOf(deploymentId)}/${PROJECT_REPOSITORY}@${digestOf(manifest)}`,
      settings: JSON.parse(annotations[SETTINGS] ?? '{}'),
      architecture: annotations[ARCHITECTURE]!,
    };
  }
}

/** Returns whether a manifest was refused because a blob that was there is gone: other images had it, and went. */
function isBlobGone(error: unknown): boolean {
  return error instanceof RegistryError && error.code === 'MANIFEST_BLOB_UNKNOWN';
}

/** Waits for a removal, which is refused for what something else needs, or is not there any more. */
async function unlessRefused(removal: Promise<void>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!(error instanceof RegistryError)) throw error;
  });
}

function sharedTag(build: string, { digest }: BaseImage): string {
  return `${build}-${digest.slice('sha256:'.length).slice(0, TAG_DIGITS)}`;
}
