import { type AuthorizationServer, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi';
import type { ProviderRequests } from './provider-requests.ts';

/**
 * What is kept of it: what the broker goes by. That a server names itself in its answers (RFC 9207) is not: front ends pass on code and
 * state alone, and each provider has a redirect URI of its own, which does the same. A name that does come is compared.
 */
const KEPT = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
] as const;

/** What an authorization server says of itself (RFC 8414, or OpenID Connect discovery); null when it says nothing. */
export async function discoverServer(
  issuer: URL,
  requests: ProviderRequests,
  deadline?: AbortSignal,
): Promise<AuthorizationServer | null> {
  let failure: unknown;
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    try {
      const response = await discoveryRequest(issuer, { algorithm, ...requests.options(deadline) });
      if (response.status === 404) continue;
      return kept(await processDiscoveryResponse(issuer, response));
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return null;
}

/**
 * The same for a provider that somebody described by hand. What is found counts only if it names the very endpoints that were
 * given: others may live at the same origin.
 */
export async function discoverDescribed(
  provider: { authUrl: string; tokenUrl: string },
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<AuthorizationServer | null> {
  const origins = new Set([new URL(provider.authUrl).origin, new URL(provider.tokenUrl).origin]);
  for (const origin of origins) {
    const server = await discoverServer(new URL(origin), requests, deadline).catch(() => null);
    if (isSame(server?.authorization_endpoint, provider.authUrl) && isSame(server?.token_endpoint, provider.tokenUrl)) {
      return server;
    }
  }
  return null;
}

function kept(server: AuthorizationServer): AuthorizationServer {
  const fields = KEPT.flatMap((name) => (server[name] === undefined ? [] : [[name, server[name]]]));
  return Object.fromEntries(fields) as AuthorizationServer;
}

function isSame(found: string | undefined, given: string): boolean {
  return found !== undefined && URL.canParse(found) && new URL(found).href === new URL(given).href;
}
