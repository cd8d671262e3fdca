import type { Readable } from 'node:stream';
import { DIGEST } from '@runyard/image-registry';
import { RegistryError } from '../registry-error.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';
import {
  type BlobPart,
  digestOfParts,
  type PartStorage,
  readBlob,
  type SizeLimit,
  writePart,
} from '../stored-images/blob-parts.ts';
import type { ImageOwner } from '../stored-images/image-owner.ts';
import type { RegistryStore, Upload } from '../stored-images/registry-store.ts';

/** Pieces that an upload may have, and bytes for each further one: each piece is an object and an entry in the row. */
const PIECES_FREE = 1_000;
const BYTES_PER_FURTHER_PIECE = 1024 * 1024;

/**
 * Stores layers and configurations of images. They are uploaded in one or several pieces, found by their digest and
 * read whole.
 */
export class Blobs {
  readonly #store: RegistryStore;
  readonly #storage: PartStorage;
  readonly #limitBytes: number;
  readonly #quota: Pick<StorageQuota, 'room'>;

  /** @param options.limitBytes limit of one blob */
  constructor(options: {
    store: RegistryStore;
    storage: PartStorage;
    limitBytes: number;
    quota: Pick<StorageQuota, 'room'>;
  }) {
    this.#quota = options.quota;
    this.#store = options.store;
    this.#storage = options.storage;
    this.#limitBytes = options.limitBytes;
  }

  async find(
    deploymentId: string,
    digest: string,
  ): Promise<{ size: number; open(range: { first: number; last: number }): Readable }> {
    const blob = DIGEST.test(digest) ? await this.#store.findBlob(deploymentId, digest) : null;
    if (!blob) throw new RegistryError('BLOB_UNKNOWN', `There is no blob ${digest}.`);
    return { size: blob.size, open: (range) => readBlob(this.#storage.objects, blob.parts, range) };
  }

  /** Keeps a blob for an image that is being pushed. @returns whether it is there */
  async keep(deploymentId: string, digest: string): Promise<boolean> {
    return DIGEST.test(digest) && this.#store.keepBlob(deploymentId, digest);
  }

  /** Gives the deployment a layer of a base image. @returns whether the layer is there */
  async mountBaseLayer(deploymentId: string, digest: string): Promise<boolean> {
    return DIGEST.test(digest) && this.#store.mountBaseLayer(deploymentId, digest);
  }

  begin(deploymentId: string): Promise<Upload> {
    return this.#store.beginUpload(deploymentId);
  }

  async upload(deploymentId: string, id: string): Promise<Upload> {
    const upload = await this.#store.findUpload(deploymentId, id);
    if (!upload) throw new RegistryError('BLOB_UPLOAD_UNKNOWN', 'There is no such upload.');
    return upload;
  }

  /** @param start the upload's size according to the client; undefined when the client does not send it */
  async append(owner: ImageOwner, id: string, body: Readable, start?: number): Promise<Upload> {
    const { deploymentId } = owner;
    const upload = await this.upload(deploymentId, id);
    if (start !== undefined && start !== upload.size) throw outOfOrderUpload(upload);
    const part = await this.#receive(owner, upload, body);
    if (!part) return upload;
    if (!(await this.#store.extendUpload(deploymentId, upload, part))) {
      await this.#store.countIncoming(id, -part.size);
      await this.#storage.removals.abandon([part.key]);
      throw outOfOrderUpload(await this.upload(deploymentId, id));
    }
    return { ...upload, size: upload.size + part.size, parts: [...upload.parts, part] };
  }

  /**
   * Stores what a request sends as a part of the upload. It is counted while it comes, and compared with the room after
   * that, so that requests at the same time leave each other's room alone, on whichever process they are.
   */
  async #receive(owner: ImageOwner, upload: Upload, body: Readable): Promise<BlobPart | null> {
    const bound = await this.#bound(owner, upload);
    let counted = 0;
    const accept = async (bytes: number) => {
      await this.#store.countIncoming(upload.id, bytes);
      counted += bytes;
      const room = await this.#quota.room(owner);
      if (room.bytes < 0) throw new RegistryError('DENIED', room.refusal.message);
    };
    try {
      return await writePart(this.#storage, owner.deploymentId, body, { ...bound, accept });
    } catch (error) {
      await this.#store.countIncoming(upload.id, -counted).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Ends an upload with its last bytes. An upload with another digest is removed.
   *
   * @throws RegistryError DIGEST_INVALID
   */
  async finish(
    owner: ImageOwner,
    id: string,
    { digest, body, start }: { digest: string; body: Readable; start?: number | undefined },
  ): Promise<void> {
    if (!DIGEST.test(digest)) throw new RegistryError('DIGEST_INVALID', 'Digests are sha256:<hex> or sha512:<hex>.');
    const { deploymentId } = owner;
    const upload = await this.append(owner, id, body, start);
    const actual = await digestOfParts(this.#storage.objects, upload.parts, digest);
    if (actual !== digest) {
      await this.#discard(deploymentId, id);
      throw new RegistryError('DIGEST_INVALID', `The upload has the digest ${actual}, not ${digest}.`);
    }
    const surplus = await this.#store.finishUpload(deploymentId, upload, digest);
    if (surplus) return this.#storage.removals.remove(surplus);
    // Another request has finished or continued the upload.
    if (!(await this.keep(deploymentId, digest))) throw outOfOrderUpload(await this.upload(deploymentId, id));
  }

  /**
   * Stores a blob of the platform's own, whole or not at all.
   *
   * @throws RegistryError DIGEST_INVALID, and for what has no room; any error of `bytes`
   */
  async store(owner: ImageOwner, bytes: Readable, digest: string): Promise<void> {
    const { id } = await this.begin(owner.deploymentId);
    try {
      await this.finish(owner, id, { digest, body: bytes });
    } catch (error) {
      await this.#discard(owner.deploymentId, id).catch(() => undefined);
      throw error;
    }
  }

  async cancel(deploymentId: string, id: string): Promise<void> {
    await this.upload(deploymentId, id);
    await this.#discard(deploymentId, id);
  }

  async #bound(owner: ImageOwner, upload: Upload): Promise<Omit<SizeLimit, 'accept'>> {
    // The last request of an upload may still come, without bytes.
    if (upload.parts.length >= PIECES_FREE + Math.floor(upload.size / BYTES_PER_FURTHER_PIECE))
      return { bytes: 0, refusal: new RegistryError('SIZE_INVALID', 'The upload has too many small pieces.') };
    const bytes = this.#limitBytes - upload.size;
    const room = await this.#quota.room(owner);
    // Image tools show this message and do not try again.
    if (room.bytes < bytes) return { bytes: room.bytes, refusal: new RegistryError('DENIED', room.refusal.message) };
    return { bytes, refusal: new RegistryError('SIZE_INVALID', 'A blob is larger than this registry takes.') };
  }

  async #discard(deploymentId: string, id: string): Promise<void> {
    await this.#storage.removals.remove(await this.#store.forgetUpload(deploymentId, id));
  }
}

function outOfOrderUpload({ size }: Upload): RegistryError {
  const message = `The next byte of this upload is number ${size}.`;
  return new RegistryError('BLOB_UPLOAD_INVALID', message, { range: rangeOf(size) });
}

/** Formats the size of an upload as a `Range` header. */
export function rangeOf(size: number): string {
  return `0-${Math.max(size - 1, 0)}`;
}
