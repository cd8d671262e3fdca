import { Readable } from 'node:stream';
import { BuildError } from '@runyard/deployments';
import { UnavailableError } from '@runyard/service-kit';
import pRetry from 'p-retry';
import type { Blobs } from '../blobs/blobs.ts';
import { RegistryError } from '../registry-error.ts';
import { BASE_LAYERS } from '../stored-images/image-owner.ts';
import type { BaseImage } from './base-image.ts';
import type { Descriptor } from './image-content.ts';

const RETRIES = 2;

/** Gives images the layers of their base: each is fetched once, and the images of all deployments mount it. */
export class BaseLayers {
  readonly #blobs: Pick<Blobs, 'keep' | 'mountBaseLayer' | 'store'>;

  constructor(blobs: Pick<Blobs, 'keep' | 'mountBaseLayer' | 'store'>) {
    this.#blobs = blobs;
  }

  /**
   * Gives a deployment all layers of the base image, and fetches those that are not here yet.
   *
   * @throws BuildError when a layer cannot be fetched; UnavailableError
   */
  async ensure(
    base: BaseImage,
    deploymentId: string,
    { say, signal }: { say: (line: string) => void; signal: AbortSignal },
  ): Promise<void> {
    const layers = new Map(base.layers.map((layer) => [layer.digest, layer]));
    for (const layer of layers.values()) {
      if (await this.#mount(deploymentId, layer)) continue;
      say(`Fetching ${layer.digest} of ${base.name} (${layer.size} bytes)`);
      await this.#fetch(base, layer, signal);
      if (!(await this.#mount(deploymentId, layer))) throw new Error('a layer of the base image is gone');
    }
  }

  async #mount(deploymentId: string, { digest }: Descriptor): Promise<boolean> {
    return (await this.#blobs.keep(deploymentId, digest)) || this.#blobs.mountBaseLayer(deploymentId, digest);
  }

  /** Fetches one layer, and retries after a broken connection. */
  async #fetch(base: BaseImage, { digest, size }: Descriptor, signal: AbortSignal): Promise<void> {
    const fetchOnce = async () => {
      const bytes = Readable.from(limitBytes(await base.source.blob(digest, signal), size), { objectMode: false });
      await this.#blobs.store(BASE_LAYERS, bytes, digest).catch((error: unknown) => {
        bytes.destroy();
        if (!(error instanceof RegistryError)) throw error;
        if (error.code !== 'DIGEST_INVALID') throw new BuildError(error.message, { cause: error });
        throw new BuildError(`A layer of ${base.name} is not what its digest says: ${digest}`);
      });
    };
    try {
      await pRetry(fetchOnce, { retries: RETRIES, signal, shouldRetry: ({ error }) => !isFinal(error) });
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw error;
      const reason = (error as Error).message;
      throw new BuildError(`A layer of ${base.name} could not be fetched: ${reason}`, { cause: error });
    }
  }
}

/** @throws Error when there are more bytes */
async function* limitBytes(chunks: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limit) throw new Error(`it has more than ${limit} bytes`);
    yield chunk;
  }
}

/** Returns whether a retry is in vain. The caller waits for an unavailable storage itself. */
function isFinal(error: unknown): boolean {
  return error instanceof BuildError || error instanceof UnavailableError;
}
