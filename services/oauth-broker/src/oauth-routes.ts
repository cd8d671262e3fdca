import {
  authenticate,
  createAgentConnection,
  createOAuthProvider,
  DEPLOYMENT_TOKEN_HEADER,
  deleteAgentConnection,
  deleteOAuthProvider,
  deleteOAuthToken,
  deleteOAuthTokens,
  deleteWorkspaceSlackTokens,
  discoverMcpProvider,
  getOAuthProvider,
  importAgentToken,
  importOAuthToken,
  listAgentConnections,
  listOAuthProviders,
  listOAuthTokens,
  oauthTokenExists,
  oauthTokensExist,
  patchOAuthProvider,
  patchOAuthToken,
  waitForAuthentication,
  workspaceSlackTokenExists,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, excludeFromInFlight, noContent, ok } from '@runyard/service-kit';
import type { ConnectionService } from './agents/connection-service.ts';
import type { Authentication } from './flows/authentication.ts';
import type { FlowService } from './flows/flow-service.ts';
import type { ProviderService } from './providers/provider-service.ts';
import type { TokenService } from './tokens/token-service.ts';

/** Answers with a token must not be cached. */
const NO_STORE = { 'cache-control': 'no-store' };

export interface OAuthServices {
  providers: ProviderService;
  authentication: Authentication;
  flows: FlowService;
  tokens: TokenService;
  connections: ConnectionService;
}

export function oauthRoutes(services: OAuthServices, keys: IdempotencyKeys): BoundOperation[] {
  return [...providerRoutes(services, keys), ...tokenRoutes(services, keys), ...agentRoutes(services, keys)];
}

function providerRoutes({ providers }: OAuthServices, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(listOAuthProviders, async ({ caller }) => ok(await providers.list(caller))),
    bindCreation(keys, createOAuthProvider, ok, ({ caller, body }, keyed) => providers.create(caller, body, keyed)),
    bind(discoverMcpProvider, async ({ caller, body }) => ok(await providers.discover(caller, body))),
    bind(getOAuthProvider, async ({ caller, params }) => ok(await providers.get(caller, params.provider_id))),
    bind(patchOAuthProvider, async ({ caller, params, body }) =>
      ok(await providers.patch(caller, params.provider_id, body)),
    ),
    bind(deleteOAuthProvider, async ({ caller, params }) =>
      ok({ message: await providers.delete(caller, params.provider_id) }),
    ),
  ];
}

function tokenRoutes({ authentication, flows, tokens }: OAuthServices, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(authenticate, async ({ caller, body, headers }) => {
      const token = headers[DEPLOYMENT_TOKEN_HEADER];
      return ok(await authentication.authenticate(caller, body, token && String(token)), NO_STORE);
    }),
    bind(waitForAuthentication, async ({ caller, params, query, signal, res }) => {
      // A request that only waits takes no room from requests that do work.
      excludeFromInFlight(res);
      return ok(await flows.wait(caller, params.auth_id, query.timeout * 1000, signal), NO_STORE);
    }),
    bind(listOAuthTokens, async ({ caller, query }) => ok(await tokens.list(caller, query.provider_id))),
    bind(deleteOAuthTokens, async ({ caller, query }) => {
      const { provider_id } = query;
      return ok({ message: await tokens.deleteAll(caller, provider_id), provider_id });
    }),
    bind(oauthTokenExists, async ({ caller, query }) => {
      const found = await tokens.exist(caller, [query.provider_id]);
      return ok({ has_token: found[query.provider_id] });
    }),
    bind(oauthTokensExist, async ({ caller, body }) =>
      ok({ has_token: await tokens.exist(caller, body.provider_ids) }),
    ),
    bindCreation(keys, importOAuthToken, ok, ({ caller, body }, keyed) => tokens.import(caller, body, keyed)),
    bind(patchOAuthToken, async ({ caller, params, body }) =>
      ok(await tokens.patch(caller, params.token_id.toLowerCase(), body)),
    ),
    bind(deleteOAuthToken, async ({ caller, params }) => {
      await tokens.delete(caller, params.token_id.toLowerCase());
      return noContent();
    }),
    bind(workspaceSlackTokenExists, async ({ caller }) => ok({ has_token: await tokens.hasWorkspaceTokens(caller) })),
    bind(deleteWorkspaceSlackTokens, async ({ caller }) => ok({ message: await tokens.deleteWorkspaceTokens(caller) })),
  ];
}

function agentRoutes({ connections }: OAuthServices, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(listAgentConnections, async ({ caller, params }) =>
      ok({ data: await connections.list(caller, params.agent_id) }),
    ),
    bindCreation(keys, createAgentConnection, created, ({ caller, params, body }, keyed) =>
      connections.connect(caller, params.agent_id, body.oauth_token_id.toLowerCase(), keyed),
    ),
    bind(deleteAgentConnection, async ({ caller, params }) => {
      await connections.disconnect(caller, params.agent_id, params.connection_id.toLowerCase());
      return noContent();
    }),
    bindCreation(keys, importAgentToken, created, ({ caller, params, body }, keyed) =>
      connections.import(caller, params.agent_id, params.provider_id, body, keyed),
    ),
  ];
}
