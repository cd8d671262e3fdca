import type { Readable } from 'node:stream';
import { BuildError } from '@runyard/deployments';
import type { ImageRepositories, ImageRepository } from '@runyard/image-registry';
import { REGISTRY_SEGMENT } from '@runyard/image-registry';
import type { ImageSource } from './image-source.ts';

/** Reads an image that was pushed to the platform's own registry, for any deployment. */
export class OwnRegistrySource implements ImageSource {
  readonly #name: string;
  readonly #open: () => ImageRepository;

  /** @param name the image's full name in the registry: `registry/<deployment>/<name>` */
  constructor(name: string, repositories: ImageRepositories) {
    const [, deploymentId = '', ...rest] = name.split('/');
    this.#name = `${REGISTRY_SEGMENT}/${deploymentId}/${rest.join('/')}`;
    this.#open = () => repositories.open({ deploymentId, name: rest.join('/') }, { mayPush: false });
  }

  async manifest(version: string): Promise<Buffer> {
    const manifest = await this.#open().manifest(version);
    if (manifest) return manifest.content;
    throw new BuildError(`This platform's registry has no ${this.#name} of ${version}`);
  }

  async blob(digest: string, signal: AbortSignal): Promise<Readable> {
    const blob = await this.#open().blob(digest, signal);
    if (blob) return blob;
    throw new BuildError(`This platform's registry has no blob ${digest} any more`);
  }
}
