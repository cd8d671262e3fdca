import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import { ConfigError, type Lifecycle, type Logger } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { Database } from '../database/database.ts';
import { startHourlySweep } from '../hourly-sweep.ts';
import { type ImageReference, originOf, parseImageReference } from '../images/image-reference.ts';
import type { PartStorage } from '../registry/blob-parts.ts';
import type { Registry } from '../registry/registry.ts';
import { RegistryStore } from '../registry/registry-store.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';
import { openBaseImage } from './base-image.ts';
import { BaseLayers } from './base-layers.ts';
import type { ImageSource } from './image-source.ts';
import { OwnRegistrySource } from './own-registry-source.ts';
import { ProjectImageStore } from './project-image-store.ts';
import { ProjectImages } from './project-images.ts';
import { RegistryClient } from './registry-client.ts';
import { type OpenBase, RevisionImages } from './revision-images.ts';
import { projectImageVariables } from './settings.ts';

const Settings = Type.Object({
  ...projectImageVariables,
  REGISTRY_BLOB_LIMIT_BYTES: Type.Integer(),
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(Type.Array(Type.String())),
});
export type ProjectImageSettings = Static<typeof Settings>;

export interface ProjectImageDependencies {
  database: Database;
  storage: PartStorage;
  registry: Pick<Registry, 'address'>;
  quota: Pick<StorageQuota, 'room'>;
  lifecycle: Pick<Lifecycle, 'onStop'>;
  logger: Logger;
}

/** Opens the images of projects that run in a cluster or on a remote data plane. @throws ConfigError */
export function openRevisionImages(
  config: ProjectImageSettings,
  dependencies: ProjectImageDependencies,
): RevisionImages {
  const { database, storage, registry, quota, lifecycle, logger } = dependencies;
  const store = new ProjectImageStore(database);
  const baseLayers = new BaseLayers({ store, storage });
  startHourlySweep('layers of base images', () => baseLayers.sweep(), { lifecycle, logger });
  const { address } = registry;
  const limitBytes = config.REGISTRY_BLOB_LIMIT_BYTES;
  const images = new ProjectImages({ store, storage, baseLayers, address, limitBytes, quota });
  return new RevisionImages(images, openBaseOf(config, dependencies));
}

function openBaseOf(config: ProjectImageSettings, dependencies: ProjectImageDependencies): OpenBase | undefined {
  const { PROJECT_BASE_IMAGE: name } = config;
  if (name === undefined) return undefined;
  const reference = parseImageReference(name);
  if (!reference) throw new ConfigError([`PROJECT_BASE_IMAGE: ${name} is no name of an image.`]);
  const { database, storage, registry } = dependencies;
  const source = registry.address.holds(name)
    ? new OwnRegistrySource(reference.repository, new RegistryStore(database), storage.objects)
    : openRemoteSource(config, reference, dependencies);
  return (signal) => openBaseImage(name, source, reference.version, signal);
}

/**
 * The operator has named the registry, so it may be in any network. Addresses that the registry names are restricted.
 */
function openRemoteSource(
  config: ProjectImageSettings,
  reference: ImageReference,
  { lifecycle }: ProjectImageDependencies,
): ImageSource {
  const { OUTBOUND_ALLOWED_NETWORKS: allowedNetworks = [] } = config;
  const { PROJECT_BASE_IMAGE_USERNAME: username, PROJECT_BASE_IMAGE_PASSWORD: password } = config;
  const { hostname } = new URL(originOf(reference));
  const registry = new OutboundClient(
    new OutboundPolicy({
      subject: 'Registry',
      allowedDomains: [hostname.replace(/^\[|\]$/g, '')],
      loopback: true,
      allowedNetworks: ['0.0.0.0/0', '::/0'],
    }),
  );
  const requireHttps = allowedNetworks.length === 0;
  const others = new OutboundClient(new OutboundPolicy({ subject: 'Registry', requireHttps, allowedNetworks }));
  lifecycle.onStop('requests to the registry of the base image', async () => {
    await registry.close();
    await others.close();
  });
  const login = username === undefined || password === undefined ? undefined : { username, password };
  return new RegistryClient({ reference, registry, others, login });
}
