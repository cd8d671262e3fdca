import type { Readable } from 'node:stream';
import { BuildError } from '@runyard/deployments';
import { REGISTRY_SEGMENT } from '@runyard/image-registry';
import type { Blobs } from '../blobs/blobs.ts';
import { RegistryError } from '../registry-error.ts';
import type { RegistryStore, Repository } from '../stored-images/registry-store.ts';
import type { ImageSource } from './image-source.ts';

/** Reads an image that was pushed here, for any deployment. */
export class StoredImageSource implements ImageSource {
  readonly #repository: Repository;
  readonly #store: Pick<RegistryStore, 'findManifest'>;
  readonly #blobs: Pick<Blobs, 'find'>;

  /** @param name the image's full name: `registry/<deployment>/<name>` */
  constructor(
    name: string,
    { store, blobs }: { store: Pick<RegistryStore, 'findManifest'>; blobs: Pick<Blobs, 'find'> },
  ) {
    const [, deploymentId = '', ...rest] = name.split('/');
    this.#repository = { deploymentId, name: rest.join('/') };
    this.#store = store;
    this.#blobs = blobs;
  }

  async manifest(version: string): Promise<Buffer> {
    const manifest = await this.#store.findManifest(this.#repository, version);
    if (manifest) return Buffer.from(manifest.content);
    const { deploymentId, name } = this.#repository;
    throw new BuildError(`This platform's registry has no ${REGISTRY_SEGMENT}/${deploymentId}/${name} of ${version}`);
  }

  async blob(digest: string): Promise<Readable> {
    try {
      const { size, open } = await this.#blobs.find(this.#repository.deploymentId, digest);
      return open({ first: 0, last: size - 1 });
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      throw new BuildError(`This platform's registry has no blob ${digest} any more`, { cause: error });
    }
  }
}
