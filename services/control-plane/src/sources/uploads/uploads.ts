import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { UPLOAD_BYTES_MAX, UPLOAD_CONTENT_TYPE, type UploadUrl } from '@runyard/contracts';
import type { Signatures } from '@runyard/encryption';
import { boundFor, type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { LeasedTask, type TaskLease } from '@runyard/leases';
import { type DiskReserve, type ObjectRemovals, type ObjectStorage, pendingObjects } from '@runyard/object-storage';
import {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  type Logger,
  type Principal,
  tenantOf,
  UnsupportedMediaTypeError,
} from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queries } from '../../database/database.ts';
import type { SourceUpload } from '../../generated/client.ts';
import { deploymentBeingDeleted } from '../../revisions/deployment-errors.ts';
import { objectsPrefix } from '../../revisions/deployment-objects.ts';
import { deploymentStore } from '../../revisions/deployment-store.ts';
import { receiveArchive } from '../../storage-quota/receive-archive.ts';
import type { StorageQuota } from '../../storage-quota/storage-quota.ts';
import { sizeRangeOf } from './upload-body.ts';
import { uploadStore } from './upload-store.ts';

/** Permits one upload until a time. */
export interface UploadGrant {
  uploadId: string;
  /** Seconds since 1970. */
  expires: number;
}

/** Returns what the signature of an upload URL signs. */
export const signedTextOf = ({ uploadId, expires }: UploadGrant) => `${uploadId}.${expires}`;

export interface UploadsOptions {
  database: Database;
  storage: Pick<ObjectStorage, 'put'>;
  removals: Pick<ObjectRemovals, 'remove'>;
  signatures: Signatures;
  /** The public base URL of the gateway. */
  publicUrl: string;
  /** Seconds that an upload URL is valid, and that an archive without a revision is kept. */
  ttlSeconds: number;
  /** The number of a deployment's newest revisions that can be deployed again. */
  revisionsKept: number;
  /** Folder for bytes that are being received. */
  temporaryFolder: string;
  quota: Pick<StorageQuota, 'check' | 'findRoom'>;
  /** The disk with `temporaryFolder`, of which archives that arrive together leave the reserve. */
  disk: DiskReserve;
  /** The lease of the one process that sweeps. */
  sweepLease: TaskLease;
  logger: Logger;
}

const SWEEP_BATCH = 100;
/** Milliseconds that an archive may take to arrive. */
const RECEIVING_MS = 15 * 60_000;
/** Milliseconds that the storage of an archive may take. */
const STORING_MS = 5 * 60_000;
/** Milliseconds after which nothing of a storage that was given up arrives any more. */
const STORING_MARGIN_MS = 60_000;
/** Milliseconds between sweeps for unused archives. */
export const SWEEP_MS = 10 * 60_000;

/** Manages archives of sources: issues upload URLs, receives archives completely, and removes unused ones. */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #sweep: LeasedTask;

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#sweep = new LeasedTask({
      lease: options.sweepLease,
      everyMs: SWEEP_MS,
      atStart: true,
      run: () => this.removeUnused(),
      logger: options.logger,
    });
  }

  start(): void {
    this.#sweep.start();
  }

  stop(): Promise<void> {
    return this.#sweep.stop();
  }

  async issue(
    caller: Principal,
    deploymentId: string,
    wants: { headers: boolean },
    keyed?: KeyedRequest,
  ): Promise<UploadUrl> {
    const { database, ttlSeconds } = this.#options;
    const tenant = tenantOf(caller);
    // A URL that is repeated for the same idempotency key is valid for at least half of its lifetime.
    const bound = boundFor(keyed, (ttlSeconds * 1000) / 2);
    return database.transact(
      withIdempotencyKey(bound, async (transaction) => {
        const deployment = await deploymentStore.get(transaction, tenant, deploymentId);
        if (deployment.deleteRequestedAt) throw deploymentBeingDeleted(deploymentId);
        const uploadId = uuidv7();
        const expires = Math.floor(Date.now() / 1000) + ttlSeconds;
        const objectPath = `${objectsPrefix(deploymentId)}sources/${uploadId}.tar.gz`;
        const expiresAt = new Date(expires * 1000);
        await uploadStore.insert(transaction, { id: uploadId, deploymentId, objectPath, expiresAt });
        return this.#urlOf({ uploadId, expires }, objectPath, wants);
      }),
    );
  }

  #urlOf(grant: UploadGrant, objectPath: string, wants: { headers: boolean }): UploadUrl {
    const { signatures, publicUrl } = this.#options;
    const url = new URL(`${publicUrl.replace(/(?<!\/)\/+$/, '')}/v2/uploads/${grant.uploadId}`);
    url.searchParams.set('expires', String(grant.expires));
    url.searchParams.set('signature', signatures.sign(signedTextOf(grant)));
    return {
      upload_url: url.href,
      object_path: objectPath,
      ...(wants.headers && {
        upload_headers: {
          'Content-Type': UPLOAD_CONTENT_TYPE,
          'X-Goog-Content-Length-Range': `0,${UPLOAD_BYTES_MAX}`,
        },
      }),
    };
  }

  /**
   * Receives an upload, whole or not at all.
   *
   * @param hold reserves memory for the buffers, or throws
   */
  async receive(grant: UploadGrant, signature: string, req: IncomingMessage, hold: () => void): Promise<void> {
    const { storage, signatures, temporaryFolder, quota, disk } = this.#options;
    const { prisma } = this.#options.database;
    const isGood = signatures.isValid(signedTextOf(grant), signature) && grant.expires * 1000 > Date.now();
    const upload = isGood ? await uploadStore.find(prisma, grant.uploadId) : null;
    if (!upload) throw invalidUploadUrl();
    if (req.headers['content-type'] !== UPLOAD_CONTENT_TYPE) {
      throw new UnsupportedMediaTypeError(`An upload has the content type ${UPLOAD_CONTENT_TYPE}.`);
    }
    const range = sizeRangeOf(req);
    await quota.check(upload.deploymentId, Number(req.headers['content-length'] ?? 0));
    hold();
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(temporaryFolder, 'upload-'));
    try {
      const file = join(folder, 'archive');
      const received = { deploymentId: upload.deploymentId, file, maxBytes: range.max };
      const bytes = await receiveArchive(req, received, { quota, disk, signal: AbortSignal.timeout(RECEIVING_MS) });
      if (bytes < range.min)
        throw new BadRequestError(`The upload is smaller than ${range.min} bytes, against its range.`);
      await quota.check(upload.deploymentId, bytes);
      const requestId = await this.#beginStoring(upload);
      try {
        await storage.put(upload.objectPath, file, AbortSignal.timeout(STORING_MS));
      } catch (error) {
        await uploadStore.giveUpStoring(prisma, upload.id, requestId);
        throw error;
      }
      if (await uploadStore.markReceived(prisma, upload.id, requestId, bytes)) return;
      const left = await uploadStore.find(prisma, upload.id);
      // Another request stores an archive at this path, because this one took too long.
      if (left && left.storedBy !== requestId) throw beingStored();
      // The upload was withdrawn meanwhile, so no revision can name it.
      await this.#remove(upload.objectPath);
      throw invalidUploadUrl();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** @throws ConflictError when a revision has the archive, or another request stores one: it would replace this one */
  async #beginStoring(upload: SourceUpload): Promise<string> {
    const requestId = uuidv7();
    const turn = { requestId, forMs: STORING_MS + STORING_MARGIN_MS };
    const begun = await this.#options.database.transact((transaction) =>
      uploadStore.beginStoring(transaction, upload, turn),
    );
    if (begun === 'begun') return requestId;
    if (begun === 'being stored') throw beingStored();
    throw new ConflictError('The archive of this upload is in use: ask for another upload URL.', {
      code: 'upload_in_use',
    });
  }

  /** Removes expired archives without a revision, and those that only old revisions use, with their upload URLs. */
  async removeUnused(): Promise<void> {
    const { database, removals, revisionsKept } = this.#options;
    const of = { newest: revisionsKept, limit: SWEEP_BATCH };
    for (;;) {
      const unused = await database.transact((transaction) => uploadStore.withdrawUnused(transaction, of));
      await removals.remove(unused);
      if (unused.length < SWEEP_BATCH) return;
    }
  }

  async #remove(objectPath: string): Promise<void> {
    const { database, removals } = this.#options;
    await pendingObjects.removeOwner(database.prisma, [objectPath]);
    await removals.remove([objectPath]);
  }
}

/**
 * Checks that an archive was uploaded, and locks it until the transaction ends.
 *
 * @throws BadRequestError for a path that `upload-url` did not give to the deployment, or without an upload
 */
export async function checkUploaded(transaction: Queries, deploymentId: string, objectPath: string): Promise<void> {
  const upload = await uploadStore.findForUse(transaction, deploymentId, objectPath);
  if (upload?.bytes != null) return;
  throw new BadRequestError(
    `Source configuration error: 'source_revision_config.source_tarball_path' ${
      upload
        ? 'names an upload that was not made.'
        : 'must be an object_path that upload-url gave for this deployment, and that is still kept.'
    }`,
    { code: 'source_tarball_unknown' },
  );
}

const beingStored = () =>
  new ConflictError('An archive of this upload is being stored: ask for another upload URL.', {
    code: 'upload_in_use',
  });

const invalidUploadUrl = () =>
  new ForbiddenError('This upload URL is not valid, or has expired.', { code: 'upload_url_invalid' });
