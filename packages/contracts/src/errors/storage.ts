import type { ErrorEntry } from './entry.ts';

/** Errors of the servers that a service stores its data in. */
export const STORAGE_ERRORS = {
  database_unavailable: {
    status: 503,
    meaning:
      'Postgres refuses connections, is out of them, or does not answer. Without an `Idempotency-Key` a write may have taken effect.',
    remedy: 'Bring it back: connections recover by themselves. Look at `max_connections`, the network and its log.',
    refusal: 'database',
  },
  database_busy: {
    status: 503,
    meaning: 'No connection to Postgres was free within `DATABASE_POOL_TIMEOUT_SECONDS`.',
    remedy: 'Retry after `Retry-After`; if it lasts, look at the load of the database, or add connections.',
    refusal: 'database',
  },
  database_too_slow: {
    status: 503,
    meaning: 'Postgres did not complete a statement within its time limit, or had no memory for it.',
    remedy: 'Retry, or ask for less at once; if it lasts, look at the load of the database.',
    refusal: 'database',
  },
  row_locked: {
    status: 503,
    meaning: 'Another transaction has held a row for 5 s. Nothing was changed.',
    remedy: 'Send the request again; if it lasts, `pg_stat_activity` says who.',
    refusal: 'database',
  },
  object_storage_unavailable: {
    status: 503,
    meaning: 'The object storage is unavailable or overloaded.',
    remedy: 'Bring it back; uploads and pushes are sent again.',
    refusal: 'object_storage',
  },
  image_check_unavailable: {
    status: 503,
    meaning: 'control-plane is unavailable: nobody can say for which deployments images may be pushed or deleted.',
    remedy: 'Try again; images are pulled all the same.',
  },
  registry_unavailable: {
    status: 503,
    meaning:
      'The registry is unavailable: images are neither made nor removed, and nobody knows how much room they take.',
    remedy: 'Look at the registry; builds and deletions go on by themselves, uploads are sent again.',
  },
  object_arrived_late: {
    status: 503,
    meaning: 'An upload took so long to arrive that it is being removed as one without an owner.',
    remedy: 'Send it again; if it lasts, look at the object storage.',
  },
  storage_quota_exceeded: {
    status: 507,
    meaning: 'The deployment or the workspace has reached its storage limit.',
    remedy: 'Delete deployments that are not needed, push less, or raise the limit that the text names.',
  },
  platform_storage_full: {
    status: 507,
    meaning: 'The platform has reached `STORAGE_MAX_BYTES`, or the disk with `DATA_DIR` is nearly full.',
    remedy: 'Delete deployments that are not needed, free space on the disk, or raise the limit.',
  },
} as const satisfies Record<string, ErrorEntry>;
