import type { IncomingMessage } from 'node:http';
import type { Cipher } from '@runyard/encryption';
import type { EventBus } from '@runyard/event-bus';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import {
  type BoundOperation,
  ConfigError,
  type InternalClient,
  type Lifecycle,
  type Logger,
  type Principal,
  type PrincipalVerifier,
  type Tenant,
  UnauthorizedError,
} from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { Signals } from '../signals.ts';
import { AgentDeployments, type DeploymentProofs } from './agents/agent-deployments.ts';
import { ConnectionService } from './agents/connection-service.ts';
import { Authentication } from './flows/authentication.ts';
import { BrowserCookie } from './flows/browser-cookie.ts';
import { callbackRoutes } from './flows/callback-routes.ts';
import { FlowService } from './flows/flow-service.ts';
import { startRoutes } from './flows/start-routes.ts';
import { IdentityReach } from './identity-reach.ts';
import { oauthRoutes } from './oauth-routes.ts';
import type { OAuthSettings } from './oauth-variables.ts';
import { ProviderRequests } from './protocol/provider-requests.ts';
import { ClientRenewal } from './providers/client-renewal.ts';
import { ProviderClients } from './providers/provider-clients.ts';
import { ProviderService } from './providers/provider-service.ts';
import { RedirectUris } from './providers/redirect-uris.ts';
import { Revocations } from './providers/revocations.ts';
import { TokenVault } from './token-vault.ts';
import { GrantedTokens } from './tokens/granted-tokens.ts';
import { RemovedIdentities } from './tokens/removed-identities.ts';
import { removeWorkspace } from './tokens/removed-workspaces.ts';
import { TokenRefresh } from './tokens/token-refresh.ts';
import { TokenService } from './tokens/token-service.ts';

export interface OAuthBroker {
  routes: BoundOperation[];
  /** Ends what a deleted workspace has of the broker. */
  removeWorkspace(tenant: Tenant): Promise<void>;
}

/** Opens the OAuth broker and registers what has to be closed. */
export function openOAuthBroker(
  config: OAuthSettings,
  dependencies: {
    database: Database;
    bus: EventBus;
    orgAccess: InternalClient;
    deploymentTokens: DeploymentProofs;
    cipher: Cipher;
    keys: IdempotencyKeys;
    principal: PrincipalVerifier;
    lifecycle: Lifecycle;
    logger: Logger;
  },
): OAuthBroker {
  const {
    database,
    bus,
    orgAccess,
    deploymentTokens: tokens,
    cipher,
    keys,
    principal,
    lifecycle,
    logger,
  } = dependencies;
  const policy = policyOf(config.OUTBOUND_ALLOWED_NETWORKS);
  const outbound = new OutboundClient(policy);
  lifecycle.onStop('requests to OAuth providers', () => outbound.close());
  const requests = new ProviderRequests(outbound, config.OAUTH_PROVIDER_TIMEOUT_SECONDS * 1000);
  const signals = new Signals(config.DATA_REDIS_URI, { purpose: 'oauth', logger });
  lifecycle.onStop('signals of the OAuth broker', () => signals.close());
  // Waiting requests are answered before their connections are closed.
  lifecycle.onDrain('waits of the OAuth broker', () => signals.drain());

  const vault = new TokenVault(cipher);
  const clients = new ProviderClients({ database, cipher, requests });
  const revocations = new Revocations({ clients, vault, logger });
  const reach = new IdentityReach(orgAccess);
  new RemovedIdentities({ database, reach, revocations, logger }).follow(bus, lifecycle);
  const redirectUris = new RedirectUris(config.PUBLIC_URL, config.OAUTH_CALLBACK_URL);
  const providers = new ProviderService({ database, clients, policy, requests, redirectUris, revocations });
  const refresh = new TokenRefresh({
    database,
    clients,
    vault,
    signals,
    logger,
    providerTimeoutMs: requests.timeoutMs,
  });
  const flows = new FlowService({
    database,
    cipher,
    clients,
    renewal: new ClientRenewal({ database, clients, requests, redirectUris }),
    tokens: new GrantedTokens({ database, vault }),
    refresh,
    signals,
    redirectUris,
    logger,
    ttlMs: config.OAUTH_FLOW_TTL_SECONDS * 1000,
  });
  const cookie = new BrowserCookie(config.PUBLIC_URL);
  const services = {
    providers,
    flows,
    authentication: new Authentication({
      ...{ database, providers, flows, refresh, reach },
      deployments: new AgentDeployments({ database, tokens }),
    }),
    tokens: new TokenService({ database, providers, vault, revocations }),
    connections: new ConnectionService({ database, providers, vault }),
  };
  return {
    routes: [
      ...oauthRoutes(services, keys),
      ...startRoutes(flows, { cookie, findPerson: (request) => findPerson(request, principal) }),
      ...callbackRoutes(flows, { cookie, finishedUrl: config.OAUTH_FINISHED_URL }),
    ],
    removeWorkspace: (tenant) => removeWorkspace({ database, revocations, logger }, tenant),
  };
}

/** Returns the person who signed in, for an operation that anybody may call; null for anybody else. */
async function findPerson(request: IncomingMessage, principal: PrincipalVerifier): Promise<Principal | null> {
  try {
    const caller = await principal.authenticate(request);
    return caller.kind === 'session' ? caller : null;
  } catch (error) {
    if (error instanceof UnauthorizedError) return null;
    throw error;
  }
}

/** Plain `http:` is allowed only if the operator allows requests to private networks. */
function policyOf(allowedNetworks: string[] = []): OutboundPolicy {
  try {
    return new OutboundPolicy({ subject: 'Provider', requireHttps: allowedNetworks.length === 0, allowedNetworks });
  } catch (error) {
    throw new ConfigError([`OUTBOUND_ALLOWED_NETWORKS: ${(error as Error).message}`]);
  }
}
