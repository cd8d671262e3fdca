import { BadRequestError } from '@runyard/service-kit';
import { type AuthorizationServer, processResourceDiscoveryResponse, resourceDiscoveryRequest } from 'oauth4webapi';
import { providerError } from '../protocol/errors.ts';
import type { ProviderRequests } from '../protocol/provider-requests.ts';
import { discoverServer } from '../protocol/server-metadata.ts';
import { type RegisteredClient, registerClient } from './client-registration.ts';

/** Limits the whole discovery, as a caller waits for it. */
const DISCOVERY_MS = 20_000;

/** The authorization server of an MCP server, and this platform as its client. */
export interface DiscoveredProvider extends RegisteredClient {
  server: AuthorizationServer;
  resource: string;
}

interface ProtectedResource {
  resource: string;
  issuer: URL;
}

/**
 * Discovers an MCP server's authorization as the MCP specification requires: finds the authorization server (RFC 9728;
 * older servers are their own), reads its metadata (RFC 8414) and registers a client (RFC 7591).
 *
 * @throws BadRequestError for a server that does not support this
 */
export async function discoverMcpServer(
  request: { providerId: string; name: string; mcpServerUrl: URL; redirectUri: string },
  requests: ProviderRequests,
): Promise<DiscoveredProvider> {
  const { providerId, name, mcpServerUrl, redirectUri } = request;
  const deadline = AbortSignal.timeout(DISCOVERY_MS);
  try {
    const { resource, issuer } = await findProtectedResource(mcpServerUrl, requests, deadline);
    const server = await discoverServer(issuer, requests, deadline);
    if (!server?.authorization_endpoint || !server.token_endpoint) {
      throw new BadRequestError(`The MCP server tells of no authorization server at ${issuer.origin}.`);
    }
    if (!server.registration_endpoint) {
      throw new BadRequestError(
        'The authorization server of the MCP server registers no clients by itself: create the provider with a client id from it.',
      );
    }
    return { server, resource, ...(await registerClient(server, { name, redirectUri }, requests, deadline)) };
  } catch (error) {
    throw error instanceof BadRequestError ? error : providerError(providerId, error);
  }
}

async function findProtectedResource(
  url: URL,
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<ProtectedResource> {
  const options = requests.options(deadline);
  const named = await fetchNamedMetadata(url, requests, deadline);
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
    const resource = await findNamedResource(response, url);
    const { authorization_servers: servers } = await processResourceDiscoveryResponse(resource, response);
    const issuer = servers?.[0];
    return { resource: resource.href, issuer: issuer && URL.canParse(issuer) ? new URL(issuer) : new URL(url.origin) };
  }
  return { resource: url.href, issuer: new URL(url.origin) };
}

/** Returns the location of the metadata from the server's challenge to a request without a token. */
async function fetchNamedMetadata(
  url: URL,
  requests: ProviderRequests,
  deadline: AbortSignal,
): Promise<string | undefined> {
  const accept = 'application/json, text/event-stream';
  const { status, challenge } = await requests.challenge(url.href, accept, deadline);
  return status === 401 ? /resource_metadata="([^"]+)"/i.exec(challenge)?.[1] : undefined;
}

/** Returns the resource that the metadata name, if it is the requested server or contains it. */
async function findNamedResource(response: Response, url: URL): Promise<URL> {
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
