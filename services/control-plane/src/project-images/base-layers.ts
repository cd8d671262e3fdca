import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import pRetry from 'p-retry';
import { type BlobPart, type PartStorage, writePart } from '../registry/blob-parts.ts';
import { RegistryError } from '../registry/registry-error.ts';
import { BuildError } from '../revisions/build-error.ts';
import type { BaseImage } from './base-image.ts';
import type { Descriptor } from './image-content.ts';
import type { ProjectImageStore } from './project-image-store.ts';

/** Takes the place of a deployment id in the keys of these objects. */
const OWNER = 'base-layers';
const RETRIES = 2;
/** Longer than it takes to make any image. */
const UNUSED_MS = 25 * 60 * 60 * 1000;

/** Stores the layers of base images: each is fetched once, for the images of all deployments. */
export class BaseLayers {
  readonly #store: ProjectImageStore;
  readonly #storage: PartStorage;

  constructor(options: { store: ProjectImageStore; storage: PartStorage }) {
    this.#store = options.store;
    this.#storage = options.storage;
  }

  /**
   * Fetches the layers of the base image that are not stored yet.
   *
   * @returns the digests of all layers
   * @throws BuildError when a layer cannot be fetched; ObjectStorageUnavailableError when the object storage is
   * unavailable
   */
  async ensure(base: BaseImage, say: (line: string) => void, signal: AbortSignal): Promise<string[]> {
    const layers = new Map(base.layers.map((layer) => [layer.digest, layer]));
    const digests = [...layers.keys()];
    const here = await this.#store.useBaseLayers(digests);
    for (const layer of layers.values()) {
      if (here.has(layer.digest)) continue;
      say(`Fetching ${layer.digest} of ${base.name} (${layer.size} bytes)`);
      const part = await this.#fetch(base, layer, signal);
      await this.#storage.removals.remove(await this.#store.addBaseLayer({ ...layer, parts: [part] }));
    }
    return digests;
  }

  async sweep(now = Date.now()): Promise<void> {
    await this.#storage.removals.remove(await this.#store.forgetBaseLayers(new Date(now - UNUSED_MS)));
  }

  /** Fetches one layer, and retries after a broken connection. */
  async #fetch(base: BaseImage, { digest, size }: Descriptor, signal: AbortSignal): Promise<BlobPart> {
    const fetchOnce = async () => {
      const bytes = new PassThrough();
      const received = pipeline(await base.source.blob(digest, signal), bytes, { signal });
      const bound = { bytes: size, refusal: new RegistryError('SIZE_INVALID', `it has more than ${size} bytes`) };
      const written = writePart(this.#storage, OWNER, bytes, bound, signal);
      const [part] = await Promise.all([written, received]).catch((error: unknown) => {
        bytes.destroy();
        throw error;
      });
      if (part && `sha256:${part.sha256}` === digest) return part;
      if (part) await this.#storage.removals.abandon([part.key]);
      throw new BuildError(`A layer of ${base.name} is not what its digest says: ${digest}`);
    };
    try {
      return await pRetry(fetchOnce, {
        retries: RETRIES,
        signal,
        shouldRetry: ({ error }) => !isFinal(error),
      });
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw error;
      const reason = (error as Error).message;
      throw new BuildError(`A layer of ${base.name} could not be fetched: ${reason}`, { cause: error });
    }
  }
}

/** Returns whether a retry is in vain. The caller waits for an unavailable object storage itself. */
function isFinal(error: unknown): boolean {
  return error instanceof BuildError || error instanceof ObjectStorageUnavailableError;
}
