import { RegistryAddress, type RegistryTokens } from '@runyard/image-registry';
import type { Lifecycle, RequestHandler } from '@runyard/service-kit';
import { type BaseImageSettings, openBaseImage } from './base-images/open-base-image.ts';
import { Blobs } from './blobs/blobs.ts';
import { ImageDeletion } from './collection/image-deletion.ts';
import type { Database } from './database/database.ts';
import type { ControlPlaneQuestions } from './deployments/control-plane-questions.ts';
import { ImageOwners } from './deployments/image-owners.ts';
import { Manifests } from './manifests/manifests.ts';
import { ProjectImages } from './project-images/project-images.ts';
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
  baseImage: BaseImageSettings;
  lifecycle: Pick<Lifecycle, 'onStop'>;
}

export interface Registry {
  /** Answers image tools. */
  handler: RequestHandler;
  store: RegistryStore;
  projectImages: ProjectImages;
}

/** Opens the registry: images of deployments that were pushed, and those made of projects. */
export function openRegistry(options: RegistryOptions): Registry {
  const { database, storage, controlPlane, tokens, quota, lifecycle } = options;
  const address = new RegistryAddress(options.url);
  const store = new RegistryStore(database);
  const parts = {
    address,
    store,
    owners: new ImageOwners({ store, controlPlane }),
    blobs: new Blobs({ store, storage, limitBytes: options.blobLimitBytes, quota }),
    manifests: new Manifests({ store, quota }),
    deletion: new ImageDeletion({ database, removals: storage.removals, controlPlane }),
  };
  const openBase = openBaseImage(options.baseImage, { ...parts, lifecycle });
  return {
    handler: registryHandler({ ...parts, tokens, controlPlane }),
    store,
    projectImages: new ProjectImages({ ...parts, openBase }),
  };
}
