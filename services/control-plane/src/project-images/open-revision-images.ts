import type { ImageRepositories } from '@runyard/image-registry';
import { type ImageReference, originOf, parseImageReference } from '@runyard/image-registry';
import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import { ConfigError, type Lifecycle } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { Registry } from '../image-registry/registry.ts';
import { openBaseImage } from './base-image.ts';
import { BaseLayers } from './base-layers.ts';
import type { ImageSource } from './image-source.ts';
import { OwnRegistrySource } from './own-registry-source.ts';
import { ProjectImages } from './project-images.ts';
import { RegistryClient } from './registry-client.ts';
import { type OpenBase, RevisionImages } from './revision-images.ts';
import { projectImageVariables } from './settings.ts';

const Settings = Type.Object({
  ...projectImageVariables,
  OUTBOUND_ALLOWED_NETWORKS: Type.Optional(Type.Array(Type.String())),
});
export type ProjectImageSettings = Static<typeof Settings>;

export interface ProjectImageDependencies {
  registry: Pick<Registry, 'address'>;
  repositories: ImageRepositories;
  lifecycle: Pick<Lifecycle, 'onStop'>;
}

/** Opens the images of projects that run in a cluster or on a remote data plane. @throws ConfigError */
export function openRevisionImages(
  config: ProjectImageSettings,
  dependencies: ProjectImageDependencies,
): RevisionImages {
  const { registry, repositories } = dependencies;
  const { address } = registry;
  const images = new ProjectImages({ repositories, baseLayers: new BaseLayers(repositories), address });
  return new RevisionImages(images, openBaseOf(config, dependencies));
}

function openBaseOf(config: ProjectImageSettings, dependencies: ProjectImageDependencies): OpenBase | undefined {
  const { PROJECT_BASE_IMAGE: name } = config;
  if (name === undefined) return undefined;
  const reference = parseImageReference(name);
  if (!reference) throw new ConfigError([`PROJECT_BASE_IMAGE: ${name} is no name of an image.`]);
  const { registry, repositories } = dependencies;
  const source = registry.address.holds(name)
    ? new OwnRegistrySource(reference.repository, repositories)
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
