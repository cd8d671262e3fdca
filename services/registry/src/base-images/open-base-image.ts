import { BuildError } from '@runyard/deployments';
import { type ImageReference, originOf, parseImageReference, type RegistryAddress } from '@runyard/image-registry';
import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import { ConfigError, type Lifecycle } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { Blobs } from '../blobs/blobs.ts';
import type { RegistryStore } from '../stored-images/registry-store.ts';
import { type BaseImage, readBaseImage } from './base-image.ts';
import type { ImageSource } from './image-source.ts';
import { RegistryClient } from './registry-client.ts';
import { baseImageVariables } from './settings.ts';
import { StoredImageSource } from './stored-image-source.ts';

const Settings = Type.Object(baseImageVariables);
export type BaseImageSettings = Static<typeof Settings>;

/** Opens the current base image of projects. @throws BuildError when it cannot be read, or there is none */
export type OpenBase = (signal: AbortSignal) => Promise<BaseImage>;

export interface BaseImageDependencies {
  /** This registry's own address: images here are read from the store. */
  address: RegistryAddress;
  store: Pick<RegistryStore, 'findManifest'>;
  blobs: Pick<Blobs, 'find'>;
  lifecycle: Pick<Lifecycle, 'onStop'>;
}

/** @throws ConfigError when the name of the base image is none */
export function openBaseImage(settings: BaseImageSettings, dependencies: BaseImageDependencies): OpenBase {
  const { PROJECT_BASE_IMAGE: name } = settings;
  if (name === undefined) return refuseWithoutBase;
  const reference = parseImageReference(name);
  if (!reference) throw new ConfigError([`PROJECT_BASE_IMAGE: ${name} is no name of an image.`]);
  const source = dependencies.address.holds(name)
    ? new StoredImageSource(reference.repository, dependencies)
    : openRemoteSource(settings, reference, dependencies);
  return (signal) => readBaseImage(name, source, reference.version, signal);
}

async function refuseWithoutBase(): Promise<never> {
  throw new BuildError(
    'The project is to run as an image, and PROJECT_BASE_IMAGE, the image that projects are put on, is not set: ' +
      'ask whoever runs this platform, or deploy an image',
  );
}

/**
 * The operator has named the registry, so it may be in any network. Addresses that the registry names are restricted.
 */
function openRemoteSource(
  settings: BaseImageSettings,
  reference: ImageReference,
  { lifecycle }: BaseImageDependencies,
): ImageSource {
  const { OUTBOUND_ALLOWED_NETWORKS: allowedNetworks = [] } = settings;
  const { PROJECT_BASE_IMAGE_USERNAME: username, PROJECT_BASE_IMAGE_PASSWORD: password } = settings;
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
