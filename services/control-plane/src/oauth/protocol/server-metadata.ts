import { type AuthorizationServer, processDiscoveryResponse } from 'oauth4webapi';
import type { ProviderRequests } from './provider-requests.ts';

/** Folders of an endpoint's address that are looked at: an issuer lies at most two or three deep. */
const FOLDERS_MAX = 4;

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

/**
 * What an authorization server says of itself; null when it says nothing. Asked for at the places of RFC 8414 and of OpenID Connect:
 * in a server's root they are one each, for an issuer with a path clients are to try the name before the path and after it.
 */
export async function discoverServer(
  issuer: URL,
  requests: ProviderRequests,
  deadline?: AbortSignal,
): Promise<AuthorizationServer | null> {
  let failure: unknown;
  for (const place of wellKnownPlaces(issuer)) {
    try {
      const response = await requests.fetch(
        place,
        { method: 'GET', headers: { accept: 'application/json' } },
        deadline,
      );
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
 * The same for a provider that somebody described by hand: an issuer may live anywhere on the way to an endpoint. What is found
 * counts only if it names the very endpoints that were given: others may live at the same origin.
 */
export async function discoverDescribed(
  provider: { authUrl: string; tokenUrl: string },
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<AuthorizationServer | null> {
  const issuers = new Set([provider.authUrl, provider.tokenUrl].flatMap(possibleIssuers));
  // A person waits meanwhile, so all are asked at once.
  const found = await Promise.all(
    [...issuers].map((issuer) => discoverServer(new URL(issuer), requests, deadline).catch(() => null)),
  );
  const { authUrl, tokenUrl } = provider;
  const names = (server: AuthorizationServer | null) =>
    isSame(server?.authorization_endpoint, authUrl) && isSame(server?.token_endpoint, tokenUrl);
  return found.find(names) ?? null;
}

/** Whether a server says that it takes codes that are bound to their asker by a digest (RFC 7636). */
export function knowsS256(server: AuthorizationServer | null): boolean {
  return server?.code_challenge_methods_supported?.includes('S256') ?? false;
}

/** In the order in which they are to be tried. */
function wellKnownPlaces(issuer: URL): string[] {
  const { origin } = issuer;
  const path = issuer.pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(places)];
}

/** The origin of an endpoint and the folders above it, the outermost first. */
function possibleIssuers(endpoint: string): string[] {
  const { origin, pathname } = new URL(endpoint);
  const folders = pathname.split('/').slice(1, -1);
  return Array.from({ length: Math.min(folders.length, FOLDERS_MAX) + 1 }, (_, depth) =>
    [origin, ...folders.slice(0, depth)].join('/'),
  );
}

function kept(server: AuthorizationServer): AuthorizationServer {
  const fields = KEPT.flatMap((name) => (server[name] === undefined ? [] : [[name, server[name]]]));
  return Object.fromEntries(fields) as AuthorizationServer;
}

function isSame(found: string | undefined, given: string): boolean {
  return found !== undefined && URL.canParse(found) && new URL(found).href === new URL(given).href;
}
