import type { Cipher } from '@runyard/encryption';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, ConfigError } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { IdentityProviderClient } from './identity-provider-client.ts';
import { SsoLookupService } from './lookup-service.ts';
import { SsoProviderService } from './provider-service.ts';
import { ProviderSources } from './provider-sources.ts';
import { ssoRoutes } from './sso-routes.ts';
import { SsoUrls } from './sso-urls.ts';

/** Wires single sign-on. */
export function openSso(parts: { config: Config; database: Database; cipher: Cipher }) {
  const { config, database, cipher } = parts;
  const client = openClient(config.OUTBOUND_ALLOWED_NETWORKS ?? []);
  const urls = new SsoUrls(config.PUBLIC_URL);
  const providers = new SsoProviderService({ database, cipher, urls, sources: new ProviderSources(client) });
  const lookups = new SsoLookupService({ database });
  return {
    routes: (keys: IdempotencyKeys): BoundOperation[] => ssoRoutes(providers, lookups, keys),
    stop: () => client.close(),
  };
}

function openClient(allowedNetworks: string[]): IdentityProviderClient {
  try {
    return new IdentityProviderClient({ allowedNetworks });
  } catch (error) {
    throw new ConfigError([`OUTBOUND_ALLOWED_NETWORKS: ${(error as Error).message}`]);
  }
}
