import { join } from 'node:path';
import { Signatures } from '@runyard/encryption';
import { Lease, leaseMsFor } from '@runyard/leases';
import type { ObjectRemovals, ObjectStorage } from '@runyard/object-storage';
import type { Logger } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import type { StorageQuota } from '../../storage-quota/storage-quota.ts';
import { SWEEP_MS, Uploads } from './uploads.ts';

export function openUploads(options: {
  config: {
    ENCRYPTION_KEY: string;
    PUBLIC_URL: string;
    UPLOAD_URL_TTL_SECONDS: number;
    REVISIONS_KEPT_PER_DEPLOYMENT: number;
    DATA_DIR: string;
    DISK_MIN_FREE_BYTES: number;
  };
  database: Database;
  storage: ObjectStorage;
  removals: ObjectRemovals;
  quota: StorageQuota;
  /** Identifies this process as a lease owner. */
  leaseOwner: string;
  logger: Logger;
}): Uploads {
  const { config, database, storage, removals, quota, leaseOwner: owner, logger } = options;
  const request = { name: 'uploads sweep', owner, leaseMs: leaseMsFor(SWEEP_MS) };
  return new Uploads({
    database,
    storage,
    removals,
    quota,
    signatures: new Signatures(config.ENCRYPTION_KEY, 'upload url v1'),
    publicUrl: config.PUBLIC_URL,
    ttlSeconds: config.UPLOAD_URL_TTL_SECONDS,
    revisionsKept: config.REVISIONS_KEPT_PER_DEPLOYMENT,
    temporaryFolder: join(config.DATA_DIR, 'uploads'),
    disk: { folder: config.DATA_DIR, minFreeBytes: config.DISK_MIN_FREE_BYTES },
    sweepLease: new Lease(database.pool, request),
    logger,
  });
}
