import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { TUNABLE_VARIABLES } from '@runyard/contracts';
import { checkAvailable } from '@runyard/object-storage';
import { digestOf } from '../images/digest.ts';
import { PROJECT_REPOSITORY, type RegistryAddress } from '../images/registry-address.ts';
import { type BlobPart, imagesPrefix, keysOf, type PartStorage, writePart } from '../registry/blob-parts.ts';
import { RegistryError } from '../registry/registry-error.ts';
import { BuildError } from '../revisions/build-error.ts';
import type { ImageArtifact } from '../revisions/driver.ts';
import type { LocalProject } from '../revisions/local-directory.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';
import type { BaseImage } from './base-image.ts';
import type { BaseLayers } from './base-layers.ts';
import { composeImage, type ProjectLayer } from './image-composition.ts';
import type { ProjectImageStore } from './project-image-store.ts';
import { PROJECT_FOLDER, projectLayer } from './project-layer.ts';

export interface ProjectImagesOptions {
  store: ProjectImageStore;
  storage: PartStorage;
  baseLayers: BaseLayers;
  address: RegistryAddress;
  /** Limit of one layer. */
  limitBytes: number;
  /** Limits all that is stored. */
  quota: Pick<StorageQuota, 'room'>;
}

export interface ImageOrder {
  deploymentId: string;
  project: LocalProject;
  base: BaseImage;
  /** Tags by which the image is found again. */
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
    const found = await this.#options.store.find(deploymentId, tag);
    return found && this.#artifactOf(deploymentId, found.digest, found.content);
  }

  /** Adds another tag to the image with a tag. @returns whether there is such an image */
  async share(deploymentId: string, tag: string, other: string): Promise<boolean> {
    const found = await this.#options.store.find(deploymentId, tag);
    if (found) await this.#options.store.tag(deploymentId, other, found.digest);
    return found !== null;
  }

  /** @throws ObjectStorageUnavailableError while images cannot be stored */
  checkStorage(deploymentId: string, signal: AbortSignal): Promise<void> {
    return checkAvailable(this.#options.storage.objects, `${imagesPrefix(deploymentId)}none`, signal);
  }

  /**
   * Makes an image. A repetition after an interruption at any point gives the same image.
   *
   * @throws BuildError when the base cannot be read, or the project cannot be put on it;
   * ObjectStorageUnavailableError when the object storage is unavailable
   */
  async make({ deploymentId, project, base, tags, say, signal }: ImageOrder): Promise<ImageArtifact> {
    const { baseLayers, store, storage } = this.#options;
    say(`Making an image on ${base.name}`);
    const shared = await baseLayers.ensure(base, say, signal);
    const { layer, part } = await this.#packProject(deploymentId, project.directory, say, signal);
    const { config, manifest } = composeImage(base, {
      layer,
      env: await variablesOf(project),
      annotations: {
        [SETTINGS]: JSON.stringify(settingsOf(project.env)),
        [ARCHITECTURE]: base.config.architecture,
      },
    });
    const written = [part];
    try {
      const configPart = await this.#write(deploymentId, Readable.from([config]), signal);
      written.push(configPart);
      const blobs = [
        { digest: layer.digest, size: layer.size, parts: [part] },
        { digest: digestOf(config), size: config.length, parts: [configPart] },
      ];
      await storage.removals.remove(await store.store(deploymentId, { manifest, baseLayers: shared, blobs, tags }));
    } catch (error) {
      await storage.removals.abandon(keysOf(written));
      throw error;
    }
    const digest = digestOf(manifest);
    say(`Made the image ${digest}, ${layer.size} bytes of it the project`);
    return this.#artifactOf(deploymentId, digest, manifest);
  }

  /** Removes the deployment's images without such a tag. */
  async keepOnly(deploymentId: string, isKept: (tag: string) => boolean): Promise<void> {
    const { store, storage } = this.#options;
    await storage.removals.remove(await store.keepOnly(deploymentId, isKept));
  }

  async #packProject(
    deploymentId: string,
    directory: string,
    say: (line: string) => void,
    signal: AbortSignal,
  ): Promise<{ layer: ProjectLayer; part: BlobPart }> {
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
    const [part] = await Promise.all([this.#write(deploymentId, zipped, signal), packing]).catch((error: unknown) => {
      zipped.destroy();
      throw error;
    });
    for (const line of notes.slice(0, NOTES_MAX)) say(line);
    if (notes.length > NOTES_MAX) say(`and ${notes.length - NOTES_MAX} more like these`);
    const diffId = `sha256:${content.digest('hex')}`;
    return { layer: { digest: `sha256:${part.sha256}`, size: part.size, diffId }, part };
  }

  async #write(deploymentId: string, bytes: Readable, signal: AbortSignal): Promise<BlobPart> {
    const { storage, limitBytes, quota } = this.#options;
    const room = await quota.room(deploymentId);
    const why =
      room.bytes < limitBytes
        ? room.refusal.message
        : `The project is larger than ${limitBytes} bytes, packed (REGISTRY_BLOB_LIMIT_BYTES)`;
    const bound = { bytes: Math.min(room.bytes, limitBytes), refusal: new RegistryError('SIZE_INVALID', why) };
    try {
      return (await writePart(storage, deploymentId, bytes, bound, signal))!;
    } catch (error) {
      throw error === bound.refusal ? new BuildError(why) : error;
    }
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
