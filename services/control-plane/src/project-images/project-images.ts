import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { TUNABLE_VARIABLES } from '@runyard/contracts';
import { BuildFailure } from '../builds/build-failure.ts';
import type { ImageArtifact } from '../drivers/driver.ts';
import { checkAvailable } from '../object-storage/object-storage.ts';
import { type BlobPart, imagesPrefix, keysOf, type PartStorage, writePart } from '../registry/blob-parts.ts';
import { digestOf } from '../registry/digest.ts';
import { PROJECT_REPOSITORY, type RegistryAddress } from '../registry/registry-address.ts';
import { RegistryError } from '../registry/registry-error.ts';
import type { LocalProject } from '../sources/local-directory.ts';
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
  /** Of one layer. */
  limitBytes: number;
  /** Of all that is kept. */
  quota: Pick<StorageQuota, 'room'>;
}

export interface ImageOrder {
  deploymentId: string;
  project: LocalProject;
  base: BaseImage;
  /** By which it is found again. */
  tags: string[];
  say: (line: string) => void;
  signal: AbortSignal;
}

/** What of a project's own variables tunes the platform's part: who starts a container has to know it before. */
const SETTINGS = 'io.runyard.settings';
/** What was installed for one kind of machine runs on no other. */
const ARCHITECTURE = 'io.runyard.architecture';
/** More of them in a log help nobody. */
const NOTES_MAX = 20;

/** Makes images of projects, in the platform's own registry: the base image, and the project's folder as one more layer. */
export class ProjectImages {
  readonly #options: ProjectImagesOptions;

  constructor(options: ProjectImagesOptions) {
    this.#options = options;
  }

  /** The deployment's image with the tag; null when none has it. */
  async find(deploymentId: string, tag: string): Promise<ImageArtifact | null> {
    const found = await this.#options.store.find(deploymentId, tag);
    return found && this.#artifactOf(deploymentId, found.digest, found.content);
  }

  /** Gives the image that has one tag another one too. @returns whether there is one */
  async share(deploymentId: string, tag: string, other: string): Promise<boolean> {
    const found = await this.#options.store.find(deploymentId, tag);
    if (found) await this.#options.store.tag(deploymentId, other, found.digest);
    return found !== null;
  }

  /** @throws ObjectStorageUnavailableError while images cannot be made, since what they are kept in is away */
  checkStorage(deploymentId: string, signal: AbortSignal): Promise<void> {
    return checkAvailable(this.#options.storage.objects, `${imagesPrefix(deploymentId)}none`, signal);
  }

  /**
   * Making it again, after it was interrupted at any point, gives the same image.
   *
   * @throws BuildFailure when the base cannot be had, or the project cannot be put on it; ObjectStorageUnavailableError when
   *   what it is kept in is away
   */
  async make({ deploymentId, project, base, tags, say, signal }: ImageOrder): Promise<ImageArtifact> {
    const { baseLayers, store, storage } = this.#options;
    say(`Making an image on ${base.name}`);
    const shared = await baseLayers.ensure(base, say, signal);
    const { layer, part } = await this.#packed(deploymentId, project.directory, say, signal);
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
      await storage.removals.remove(await store.keep(deploymentId, { manifest, baseLayers: shared, blobs, tags }));
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

  async #packed(
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
    // What a higher level saves in bytes, it takes in seconds of every build.
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
      throw error === bound.refusal ? new BuildFailure(why) : error;
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

/** What images say of the project they hold (docs/images.md). */
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

/** The section as it is written: whoever starts a container looks for it, and does not read the file. */
async function authOf(configPath: string): Promise<string> {
  const text = await readFile(configPath, 'utf8');
  return JSON.stringify((JSON.parse(text.replace(/^\uFEFF/, '')) as { auth: unknown }).auth);
}

function settingsOf(env: Record<string, string>): Record<string, string> {
  const names: readonly string[] = TUNABLE_VARIABLES;
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));
}
