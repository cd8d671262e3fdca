import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { TUNABLE_VARIABLES } from '@runyard/contracts';
import type { ImageArtifact, LocalProject } from '@runyard/deployments';
import { BuildError, PROJECT_FOLDER, projectLayer } from '@runyard/deployments';
import { digestOf, PROJECT_REPOSITORY, type RegistryAddress } from '@runyard/image-registry';
import pRetry from 'p-retry';
import {
  type ImageRepositories,
  type ImageRepository,
  isBlobGone,
  RegistryRefusedError,
} from '../image-registry/image-repository.ts';
import type { BaseImage } from './base-image.ts';
import type { BaseLayers } from './base-layers.ts';
import { composeImage, type ProjectLayer } from './image-composition.ts';
import { MANIFEST_TYPE } from './image-content.ts';

export interface ProjectImagesOptions {
  repositories: ImageRepositories;
  baseLayers: BaseLayers;
  address: RegistryAddress;
}

export interface ImageOrder {
  deploymentId: string;
  project: LocalProject;
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
/** Images that may be deleted, one after the other, with blobs of the one that is being made. */
const RACES_MAX = 3;
/** More notes in a log help nobody. */
const NOTES_MAX = 20;

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

  /**
   * Makes an image. A repetition after an interruption at any point gives the same image. It is made again when an older
   * image that had the same blobs is deleted with them before its manifest is there.
   *
   * @throws BuildError when the base cannot be read, or the project cannot be put on it; RegistryUnavailableError
   */
  async make(order: ImageOrder): Promise<ImageArtifact> {
    try {
      return await pRetry(() => this.#makeOnce(order), {
        retries: RACES_MAX,
        minTimeout: 0,
        signal: order.signal,
        shouldRetry: ({ error }) => isBlobGone(error),
      });
    } catch (error) {
      if (!(error instanceof RegistryRefusedError)) throw error;
      const why =
        error.code === 'SIZE_INVALID'
          ? 'The project is larger, packed, than the registry takes (REGISTRY_BLOB_LIMIT_BYTES)'
          : error.message;
      throw new BuildError(why, { cause: error });
    }
  }

  async #makeOnce({ deploymentId, project, base, tags, say, signal }: ImageOrder): Promise<ImageArtifact> {
    const repository = this.#open(deploymentId, true);
    const pushed: string[] = [];
    try {
      say(`Making an image on ${base.name}`);
      await this.#options.baseLayers.ensure(base, repository, { say, signal });
      const layer = await packProject(repository, project.directory, { say, signal });
      pushed.push(layer.digest);
      const { config, manifest } = composeImage(base, {
        layer,
        env: await variablesOf(project),
        annotations: {
          [SETTINGS]: JSON.stringify(settingsOf(project.env)),
          [ARCHITECTURE]: base.config.architecture,
        },
      });
      const { digest: configDigest } = await repository.push(Readable.from([config]), { signal });
      pushed.push(configDigest);
      for (const tag of tags) await tagManifest(repository, manifest, tag);
      const digest = digestOf(manifest);
      say(`Made the image ${digest}, ${layer.size} bytes of it the project`);
      return this.#artifactOf(deploymentId, digest, manifest);
    } catch (error) {
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

/** Pushes the project's folder as a layer. */
async function packProject(
  repository: ImageRepository,
  directory: string,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<ProjectLayer> {
  const content = createHash('sha256');
  const notes: string[] = [];
  async function* read(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      content.update(chunk);
      yield chunk;
    }
  }
  // A higher level would save bytes and cost seconds of every build.
  const zipped = createGzip({ level: constants.Z_BEST_SPEED });
  const archive = projectLayer(directory, (line) => notes.push(line));
  const packing = pipeline(archive, read, zipped, { signal });
  const pushing = repository.push(zipped, { signal });
  pushing.catch(() => zipped.destroy());
  // A push that fails ends the packing with it; of a packing that fails, the push has the error.
  const [pushed] = await Promise.allSettled([pushing, packing]);
  if (pushed.status === 'rejected') throw pushed.reason;
  for (const line of notes.slice(0, NOTES_MAX)) say(line);
  if (notes.length > NOTES_MAX) say(`and ${notes.length - NOTES_MAX} more like these`);
  return { ...pushed.value, diffId: `sha256:${content.digest('hex')}` };
}

/** Returns the variables by which an image describes its project (docs/images.md). */
async function variablesOf({
  directory,
  configPath,
  hasCustomAuth,
  env,
}: LocalProject): Promise<Record<string, string>> {
  return {
    PROJECT_DIR: PROJECT_FOLDER,
    LANGGRAPH_CONFIG_PATH: relative(directory, configPath),
    ...(hasCustomAuth && { LANGGRAPH_AUTH: env.LANGGRAPH_AUTH ?? (await authOf(configPath)) }),
  };
}

/** Returns the `auth` section as it is written, because whoever starts a container reads only the variable. */
async function authOf(configPath: string): Promise<string> {
  const text = await readFile(configPath, 'utf8');
  return JSON.stringify((JSON.parse(text.replace(/^\uFEFF/, '')) as { auth: unknown }).auth);
}

function settingsOf(env: Record<string, string>): Record<string, string> {
  const names: readonly string[] = TUNABLE_VARIABLES;
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}
