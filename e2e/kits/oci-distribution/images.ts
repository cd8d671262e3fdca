import type { Deployment, PushToken } from '@runyard/contracts';
import type { Platform } from '../../harness/platform.ts';
import { askPlatform } from '../ask-platform.ts';

/** A place for images: that of a deployment of its own. */
export interface Images {
  /** The address without a scheme, below which images have their names. */
  registryUrl: string;
  user: string;
  password: string;
  /** Deletes the deployment with its images. */
  remove(): Promise<void>;
}

/** Makes a deployment that takes images, and a password for them. */
export async function makeImages(platform: Platform): Promise<Images> {
  const wanted = {
    name: `kit-${crypto.randomUUID()}`,
    source: 'internal_docker',
    source_config: { deployment_type: 'dev' },
    source_revision_config: {},
  };
  const { id } = await askPlatform<Deployment>(platform, 'POST', '/v2/deployments', wanted);
  const path = `/v2/deployments/${id}`;
  const asked = { supports_registry_username: true };
  const { registry_url, token, username } = await askPlatform<PushToken>(platform, 'POST', `${path}/push-token`, asked);
  return {
    registryUrl: registry_url,
    user: username ?? 'oauth2accesstoken',
    password: token,
    remove: () => askPlatform(platform, 'DELETE', path),
  };
}
