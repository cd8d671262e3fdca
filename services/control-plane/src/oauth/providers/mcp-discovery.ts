import type { TokenEndpointAuthMethod } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import {
  type AuthorizationServer,
  dynamicClientRegistrationRequest,
  processDynamicClientRegistrationResponse,
  processResourceDiscoveryResponse,
  resourceDiscoveryRequest,
} from 'oauth4webapi';
import { providerError } from '../protocol/errors.ts';
import type { ProviderRequests } from '../protocol/provider-requests.ts';
import { discoverServer } from '../protocol/server-metadata.ts';

/** All of the discovery together: somebody waits for it. */
const DISCOVERY_MS = 20_000;
const AUTH_METHODS: readonly TokenEndpointAuthMethod[] = ['client_secret_basic', 'client_secret_post', 'none'];

/** The authorization server of an MCP server, and this platform as one of its clients. */
export interface DiscoveredProvider {
  server: AuthorizationServer;
  resource: string;
  clientId: string;
  clientSecret: string | null;
  authMethod: TokenEndpointAuthMethod;
}

interface ProtectedResource {
  resource: string;
  issuer: URL;
}

/**
 * What the MCP specification asks of clients: which authorization server protects the server (RFC 9728; servers of before are their
 * own), what that one can do (RFC 8414), and a registration there (RFC 7591).
 *
 * @throws BadRequestError for a server that does not offer this
 */
export async function discoverMcpServer(
  request: { providerId: string; name: string; mcpServerUrl: URL; redirectUri: string },
  requests: ProviderRequests,
): Promise<DiscoveredProvider> {
  const { providerId, name, mcpServerUrl, redirectUri } = request;
  const deadline = AbortSignal.timeout(DISCOVERY_MS);
  try {
    const { resource, issuer } = await protectedResource(mcpServerUrl, requests, deadline);
    const server = await discoverServer(issuer, requests, deadline);
    if (!server?.authorization_endpoint || !server.token_endpoint) {
      throw new BadRequestError(`The MCP server tells of no authorization server at ${issuer.origin}.`);
    }
    if (!server.registration_endpoint) {
      throw new BadRequestError(
        'The authorization server of the MCP server registers no clients by itself: create the provider with a client id from it.',
      );
    }
    const authMethod = authMethodFor(server);
    const registration = await dynamicClientRegistrationRequest(
      server,
      {
        client_name: `Runyard: ${name}`,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: authMethod,
      },
      requests.options(deadline),
    );
    const client = await processDynamicClientRegistrationResponse(registration);
    const registered = AUTH_METHODS.find((method) => method === client.token_endpoint_auth_method);
    return {
      server,
      resource,
      clientId: client.client_id,
      clientSecret: typeof client.client_secret === 'string' ? client.client_secret : null,
      authMethod: registered ?? authMethod,
    };
  } catch (error) {
    throw error instanceof BadRequestError ? error : providerError(providerId, error);
  }
}

async function protectedResource(
  url: URL,
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<ProtectedResource> {
  const options = requests.options(deadline);
  const named = await metadataNamedBy(url, requests, deadline);
  const places = [
    ...(named
      ? [() => requests.fetch(named, { method: 'GET', headers: { accept: 'application/json' } }, deadline)]
      : []),
    () => resourceDiscoveryRequest(url, options),
    () => resourceDiscoveryRequest(new URL(url.origin), options),
  ];
  for (const ask of places) {
    const response = await ask();
    if (response.status !== 200) continue;
    const resource = await namedResource(response, url);
    const { authorization_servers: servers } = await processResourceDiscoveryResponse(resource, response);
    const issuer = servers?.[0];
    return { resource: resource.href, issuer: issuer && URL.canParse(issuer) ? new URL(issuer) : new URL(url.origin) };
  }
  return { resource: url.href, issuer: new URL(url.origin) };
}

/** Where the server itself says its metadata are, when it is asked without a token. */
async function metadataNamedBy(
  url: URL,
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<string | undefined> {
  const accept = 'application/json, text/event-stream';
  const { status, challenge } = await requests.challenge(url.href, accept, deadline);
  return status === 401 ? /resource_metadata="([^"]+)"/i.exec(challenge)?.[1] : undefined;
}

/** The resource as its metadata name it, if that is the server asked about or one that it is part of. */
async function namedResource(response: Response, url: URL): Promise<URL> {
  const fields = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { resource?: unknown };
  const { resource } = fields;
  if (typeof resource !== 'string' || !URL.canParse(resource)) return url;
  const named = new URL(resource);
  const folder = named.pathname.replace(/\/?$/, '/');
  return named.origin === url.origin && `${url.pathname}/`.startsWith(folder) ? named : url;
}

function authMethodFor({
  token_endpoint_auth_methods_supported: supported,
}: AuthorizationServer): TokenEndpointAuthMethod {
  return AUTH_METHODS.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}
