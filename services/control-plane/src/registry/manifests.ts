import { createHash } from 'node:crypto';
import { conforms } from '@runyard/contracts';
import Type from 'typebox';
import { RegistryError } from './registry-error.ts';
import type { Manifest, RegistryStore, Repository } from './registry-store.ts';

/** As much as the specification asks registries to take. */
export const MANIFEST_LIMIT_BYTES = 4 * 1024 * 1024;

const OF_IMAGES = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]);
const OF_LISTS = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const TAG = /^\w[\w.-]{0,127}$/;

const Descriptor = Type.Object({ digest: Type.String(), urls: Type.Optional(Type.Array(Type.String())) });
const ImageManifest = Type.Object({ config: Descriptor, layers: Type.Array(Descriptor) });
const ImageList = Type.Object({ manifests: Type.Array(Descriptor) });

/** What images consist of: kept as they were pushed, once all they name is there. */
export class Manifests {
  readonly #store: RegistryStore;

  constructor(store: RegistryStore) {
    this.#store = store;
  }

  async find(repository: Repository, reference: string): Promise<Manifest> {
    const manifest = await this.#store.findManifest(repository, reference);
    if (!manifest) throw new RegistryError('MANIFEST_UNKNOWN', `There is no manifest ${reference}.`);
    return manifest;
  }

  /**
   * @param reference a tag, or the digest it must have
   * @returns its digest
   */
  async put(repository: Repository, reference: string, content: Buffer, contentType?: string): Promise<string> {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const isByDigest = reference.includes(':');
    if (isByDigest && reference !== digest) {
      throw new RegistryError('DIGEST_INVALID', `The manifest has the digest ${digest}, not ${reference}.`);
    }
    if (!isByDigest && !TAG.test(reference)) throw new RegistryError('MANIFEST_INVALID', 'This is no name of a tag.');
    const mediaType = await this.#check(repository, content, contentType);
    await this.#store.putManifest(
      repository,
      { digest, mediaType, content: Uint8Array.from(content) },
      isByDigest ? null : reference,
    );
    return digest;
  }

  async #check(repository: Repository, content: Buffer, contentType?: string): Promise<string> {
    const manifest = parse(content);
    const mediaType = contentType?.split(';')[0]?.trim() || String((manifest as { mediaType?: unknown }).mediaType);
    if (OF_IMAGES.has(mediaType) && conforms(ImageManifest, manifest)) {
      // Layers with addresses of their own lie elsewhere.
      const own = [manifest.config, ...manifest.layers].filter(({ urls }) => urls === undefined);
      const missing = await this.#store.missingBlobs(repository.deploymentId, digestsOf(own));
      if (missing.length === 0) return mediaType;
      throw new RegistryError('MANIFEST_BLOB_UNKNOWN', `Blobs are missing: ${missing.join(', ')}.`);
    }
    if (OF_LISTS.has(mediaType) && conforms(ImageList, manifest)) {
      const missing = await this.#store.missingManifests(repository, digestsOf(manifest.manifests));
      if (missing.length === 0) return mediaType;
      throw new RegistryError('MANIFEST_BLOB_UNKNOWN', `Manifests are missing: ${missing.join(', ')}.`);
    }
    throw new RegistryError('MANIFEST_INVALID', 'This is no manifest of an image or of a list of images.');
  }
}

function parse(content: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(content.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Answered below.
  }
  throw new RegistryError('MANIFEST_INVALID', 'A manifest is a JSON object.');
}

const digestsOf = (descriptors: { digest: string }[]) => [...new Set(descriptors.map(({ digest }) => digest))];
