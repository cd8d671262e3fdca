import type { Cipher } from '@runyard/encryption';
import { policyOf, RepositoryListing, type RepositoryRules } from '@runyard/git-servers';
import { OutboundClient } from '@runyard/outbound';
import type { Lifecycle } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import { GithubIntegrations } from './integrations.ts';

/** Opens the integrations with their client for Git servers. */
export function openIntegrations(dependencies: {
  database: Database;
  cipher: Cipher;
  rules: RepositoryRules;
  lifecycle: Lifecycle;
}): GithubIntegrations {
  const { lifecycle, ...kept } = dependencies;
  const outbound = new OutboundClient(policyOf(dependencies.rules));
  lifecycle.onStop('requests to Git servers', () => outbound.close());
  return new GithubIntegrations({ ...kept, listing: new RepositoryListing(outbound) });
}
