import type { Readable } from 'node:stream';
import type { ObjectStorage } from '@runyard/object-storage';
import { REGISTRY_SEGMENT } from '../images/registry-address.ts';
import { readBlob } from '../registry/blob-parts.ts';
import type { RegistryStore, Repository } from '../registry/registry-store.ts';
import { BuildError } from '../revisions/build-error.ts';
import type { ImageSource } from './image-source.ts';

/** Reads an image that was pushed to the platform's own registry, for any deployment. */
export class OwnRegistrySource implements ImageSource {
  readonly #repository: Repository;
  readonly #store: RegistryStore;
  readonly #objects: ObjectStorage;

  /** @param name the image's full name in the registry: `registry/<deployment>/<name>` */
  constructor(name: string, store: RegistryStore, objects: ObjectStorage) {
    const [, deploymentId = '', ...rest] = name.split('/');
    this.#repository = { deploymentId, name: rest.join('/') };
    this.#store = store;
    this.#objects = objects;
  }

  async manifest(version: string): Promise<Buffer> {
    const manifest = await this.#store.findManifest(this.#repository, version);
    if (manifest) return Buffer.from(manifest.content);
    const { deploymentId, name } = this.#repository;
    throw new BuildError(`This platform's registry has no ${REGISTRY_SEGMENT}/${deploymentId}/${name} of ${version}`);
  }

  async blob(digest: string): Promise<Readable> {
    const blob = await this.#store.findBlob(this.#repository.deploymentId, digest);
    if (!blob) throw new BuildError(`This platform's registry has no blob ${digest} any more`);
    return readBlob(this.#objects, blob.parts, { first: 0, last: blob.size - 1 });
  }
}
