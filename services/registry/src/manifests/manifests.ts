import { DIGEST, digestOf, MANIFEST_LIMIT_BYTES } from '@runyard/image-registry';
import { RegistryError } from '../registry-error.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import { LIST_TYPE, MEDIA_TYPE, parseImageManifest } from '../stored-images/manifest-content.ts';
import type { RegistryStore, Repository, StoredManifest } from '../stored-images/registry-store.ts';

/** Bytes of the manifests of a page of referrers, unless a single one is larger. */
const PAGE_BYTES = MANIFEST_LIMIT_BYTES;
const TAG = /^\w[\w.-]{0,127}$/;

/** A page of a manifest's referrers. */
export interface Referrers {
  index: { schemaVersion: 2; mediaType: string; manifests: object[] };
  /** The digest after which the next page begins; null when there is none. */
  restAfter: string | null;
}

/** Stores manifests as they were pushed, once everything they name exists. */
export class Manifests {
  readonly #store: RegistryStore;
  readonly #quota: Pick<StorageQuota, 'room'>;

  constructor({ store, quota }: { store: RegistryStore; quota: Pick<StorageQuota, 'room'> }) {
    this.#store = store;
    this.#quota = quota;
  }

  async find(repository: Repository, reference: string): Promise<StoredManifest> {
    const mayBe = DIGEST.test(reference) || TAG.test(reference);
    const manifest = mayBe ? await this.#store.findManifest(repository, reference) : null;
    if (!manifest) throw new RegistryError('MANIFEST_UNKNOWN', `There is no manifest ${reference}.`);
    return manifest;
  }

  /**
   * Stores a manifest.
   *
   * @param reference a tag, or the digest it must have
   * @returns its digest, and the digest of the manifest that it refers to
   */
  async put(
    { owner, name }: { owner: ImageOwner; name: string },
    reference: string,
    content: Buffer,
    contentType?: string,
  ): Promise<{ digest: string; subject: string | null }> {
    const isByDigest = reference.includes(':');
    const digest = digestOf(content, isByDigest ? reference : undefined);
    if (isByDigest && reference !== digest) {
      throw new RegistryError('DIGEST_INVALID', `The manifest has the digest ${digest}, not ${reference}.`);
    }
    if (!isByDigest && !TAG.test(reference)) throw new RegistryError('MANIFEST_INVALID', 'This is no name of a tag.');
    const { mediaType, parts, subject, artifactType } = parseImageManifest(content, contentType);
    const room = await this.#quota.room(owner);
    if (room.bytes < content.length) throw new RegistryError('DENIED', room.refusal.message);
    const missing = await this.#store.putManifest(
      { deploymentId: owner.deploymentId, name },
      { digest, mediaType, content: Uint8Array.from(content) },
      { tag: isByDigest ? null : reference, subject, artifactType, parts },
    );
    if (missing.length > 0) {
      throw new RegistryError('MANIFEST_BLOB_UNKNOWN', `It names what is not here: ${missing.join(', ')}.`);
    }
    return { digest, subject };
  }

  /**
   * Returns a page of the manifests that refer to a subject. The page may be empty, whether or not the subject exists.
   *
   * @param artifactType returns only these
   * @param after the last digest of the previous page
   */
  async referrers(
    repository: Repository,
    subject: string,
    { artifactType, after }: { artifactType?: string | undefined; after?: string | undefined },
  ): Promise<Referrers> {
    if (!DIGEST.test(subject)) throw new RegistryError('DIGEST_INVALID', 'Referrers are asked for by a digest.');
    if (after !== undefined && !DIGEST.test(after)) throw new RegistryError('DIGEST_INVALID', '`last` is a digest.');
    const wanted = { subject, artifactType, after, limitBytes: PAGE_BYTES };
    const isNone = artifactType !== undefined && !MEDIA_TYPE.test(artifactType);
    const { manifests, isAll } = isNone
      ? { manifests: [], isAll: true }
      : await this.#store.referrers(repository, wanted);
    const index = { schemaVersion: 2 as const, mediaType: LIST_TYPE, manifests: manifests.map(descriptorOf) };
    return { index, restAfter: isAll ? null : (manifests.at(-1)?.digest ?? null) };
  }
}

function descriptorOf({ digest, mediaType, content }: StoredManifest): object {
  const { artifactType, annotations } = parseImageManifest(Buffer.from(content), mediaType);
  return {
    mediaType,
    digest,
    size: content.length,
    ...(artifactType !== null && { artifactType }),
    ...(annotations && { annotations }),
  };
}
