import { type AuthorizationServer, processDiscoveryResponse } from 'oauth4webapi';
import type { ProviderRequests } from './provider-requests.ts';

/** Folders of an endpoint's path that are tried. Issuers are at most two or three levels deep. */
const FOLDERS_MAX = 4;

/**
 * The metadata that are stored, because the broker uses them. That a server always sends `iss` in its answers (RFC
 * 9207) is left out: front ends pass only code and state on, and a redirect URI of its own for each provider protects
 * just as well. An `iss` that does arrive is checked.
 */
const STORED_TEXTS = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
] as const;
const STORED_LISTS = ['code_challenge_methods_supported', 'token_endpoint_auth_methods_supported'] as const;

/**
 * Fetches an authorization server's metadata; null when it has none. It tries the locations of RFC 8414 and of OpenID
 * Connect. For an issuer with a path, the well-known name is tried before and after the path.
 */
export async function discoverServer(
  issuer: URL,
  requests: ProviderRequests,
  deadline?: AbortSignal,
): Promise<AuthorizationServer | null> {
  let failure: unknown;
  for (const place of wellKnownUrls(issuer)) {
    try {
      const response = await requests.fetch(
        place,
        { method: 'GET', headers: { accept: 'application/json' } },
        deadline,
      );
      if (response.status === 404) continue;
      return pickStoredFields(await processDiscoveryResponse(issuer, response));
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return null;
}

/**
 * Finds the metadata of a provider that was configured by hand. The issuer may be at any level above an endpoint. The
 * metadata must contain exactly the configured endpoints, because several issuers may share an origin.
 */
export async function discoverConfiguredServer(
  provider: { authUrl: string; tokenUrl: string },
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<AuthorizationServer | null> {
  const issuers = new Set([provider.authUrl, provider.tokenUrl].flatMap(possibleIssuers));
  // A person waits meanwhile, so all requests run at once.
  const found = await Promise.all(
    [...issuers].map((issuer) => discoverServer(new URL(issuer), requests, deadline).catch(() => null)),
  );
  const { authUrl, tokenUrl } = provider;
  const names = (server: AuthorizationServer | null) =>
    isSame(server?.authorization_endpoint, authUrl) && isSame(server?.token_endpoint, tokenUrl);
  return found.find(names) ?? null;
}

/** Returns whether a server supports PKCE with `S256` (RFC 7636). */
export function supportsS256(server: AuthorizationServer | null): boolean {
  const methods: unknown = server?.code_challenge_methods_supported;
  // Rows of earlier releases have what the server sent.
  return Array.isArray(methods) && methods.includes('S256');
}

/** Returns the URLs of the metadata in the order of attempts. */
function wellKnownUrls(issuer: URL): string[] {
  const { origin } = issuer;
  const path = issuer.pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(places)];
}

/** Returns the origin of an endpoint and its parent folders, the outermost first. */
function possibleIssuers(endpoint: string): string[] {
  const { origin, pathname } = new URL(endpoint);
  const folders = pathname.split('/').slice(1, -1);
  return Array.from({ length: Math.min(folders.length, FOLDERS_MAX) + 1 }, (_, depth) =>
    [origin, ...folders.slice(0, depth)].join('/'),
  );
}

function pickStoredFields(server: AuthorizationServer): AuthorizationServer {
  const isText = (value: unknown) => typeof value === 'string';
  const isList = (value: unknown) => Array.isArray(value) && value.every(isText);
  // Servers are of strangers: a field of another form counts as absent.
  const fields = [
    ...STORED_TEXTS.filter((name) => isText(server[name])),
    ...STORED_LISTS.filter((name) => isList(server[name])),
  ];
  return Object.fromEntries(fields.map((name) => [name, server[name]])) as unknown as AuthorizationServer;
}

function isSame(found: string | undefined, given: string): boolean {
  return found !== undefined && URL.canParse(found) && new URL(found).href === new URL(given).href;
}
