import type { Cipher } from '@runyard/encryption';
import type { RequestHandler } from '@runyard/service-kit';
import Type from 'typebox';
import type { Database } from '../database/database.ts';
import { RegistryAddress } from '../images/registry-address.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';
import { imagesPrefix, type PartStorage } from './blob-parts.ts';
import { Blobs } from './blobs.ts';
import { ImageDeletion } from './image-deletion.ts';
import { Manifests } from './manifests.ts';
import { registryHandler } from './registry-handler.ts';
import { RegistryStore } from './registry-store.ts';
import { RegistryTokens } from './registry-tokens.ts';

export const registryVariables = {
  REGISTRY_URL: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where image tools reach the registry, as `https://host:port` without a path. Default: the root of `PUBLIC_URL`.',
    }),
  ),
  REGISTRY_BLOB_LIMIT_BYTES: Type.Integer({
    default: 5_368_709_120,
    minimum: 1_048_576,
    // The largest object that S3 accepts in one request.
    maximum: 5_368_709_120,
    description: 'Bytes of one layer of a pushed image.',
  }),
};

export interface RegistryOptions extends PartStorage {
  database: Database;
  cipher: Cipher;
  /** The registry's URL for image tools. */
  url: string;
  /** Limit of one blob. */
  blobLimitBytes: number;
  /** Limits all that is stored. */
  quota: Pick<StorageQuota, 'room'>;
  /** The number of a deployment's newest revisions that can be deployed again: their images are not deleted. */
  revisionsKept: number;
}

/** The registry for images of deployments with the source `internal_docker`, and for images of projects. */
export interface Registry {
  handler: RequestHandler;
  address: RegistryAddress;
  tokens: RegistryTokens;
  /** Removes the objects of the deployment's images. Their metadata are deleted with the deployment's row. */
  removeImages(deploymentId: string): Promise<void>;
}

export function openRegistry(options: RegistryOptions): Registry {
  const { database, objects, removals, temporaryFolder, cipher, url, blobLimitBytes, quota, revisionsKept } = options;
  const address = new RegistryAddress(url);
  const tokens = new RegistryTokens(cipher);
  const store = new RegistryStore(database);
  const storage = { objects, removals, temporaryFolder };
  const blobs = new Blobs({ store, storage, limitBytes: blobLimitBytes, quota });
  const manifests = new Manifests({ store, quota });
  const deletion = new ImageDeletion({ database, removals, revisionsKept });
  return {
    handler: registryHandler({ address, tokens, store, blobs, manifests, deletion }),
    address,
    tokens,
    removeImages: (deploymentId) => objects.removeBelow(imagesPrefix(deploymentId)),
  };
}
