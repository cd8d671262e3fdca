import { RegistryAddress, type RegistryTokens } from '@runyard/image-registry';
import type { RequestHandler } from '@runyard/service-kit';
import { Blobs } from './blobs/blobs.ts';
import { ImageDeletion } from './collection/image-deletion.ts';
import type { Database } from './database/database.ts';
import type { ControlPlaneQuestions } from './deployments/control-plane-questions.ts';
import { ImageOwners } from './deployments/image-owners.ts';
import { Manifests } from './manifests/manifests.ts';
import { registryHandler } from './protocol/registry-handler.ts';
import type { StorageQuota } from './storage-quota/storage-quota.ts';
import type { PartStorage } from './stored-images/blob-parts.ts';
import { RegistryStore } from './stored-images/registry-store.ts';

export interface RegistryOptions {
  database: Database;
  storage: PartStorage;
  controlPlane: Pick<ControlPlaneQuestions, 'describe' | 'namedImages' | 'openFormerToken'>;
  tokens: RegistryTokens;
  /** The registry's URL for image tools. */
  url: string;
  /** Limit of one blob. */
  blobLimitBytes: number;
  quota: Pick<StorageQuota, 'room'>;
}

/** Opens the registry for image tools: images of deployments that were pushed, and those made of projects. */
export function openRegistry(options: RegistryOptions): { handler: RequestHandler; store: RegistryStore } {
  const { database, storage, controlPlane, tokens, url, blobLimitBytes, quota } = options;
  const store = new RegistryStore(database);
  const handler = registryHandler({
    address: new RegistryAddress(url),
    tokens,
    controlPlane,
    owners: new ImageOwners({ store, controlPlane }),
    store,
    blobs: new Blobs({ store, storage, limitBytes: blobLimitBytes, quota }),
    manifests: new Manifests({ store, quota }),
    deletion: new ImageDeletion({ database, removals: storage.removals, controlPlane }),
  });
  return { handler, store };
}
