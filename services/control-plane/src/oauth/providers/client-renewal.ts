import { toSqlText } from '@runyard/database';
import type { AuthorizationServer } from 'oauth4webapi';
import type { Database } from '../../database/database.ts';
import type { OAuthProvider } from '../../generated/client.ts';
import type { RedirectUris } from '../flows/redirect-uris.ts';
import { providerError } from '../protocol/errors.ts';
import type { ProviderRequests } from '../protocol/provider-requests.ts';
import { registerClient } from './client-registration.ts';
import type { ProviderClients } from './provider-clients.ts';

/** So long before its end a secret is replaced, if it lives longer: a person has the time to go to the provider with the new one. */
const AHEAD_MS = 3_600_000;
/** A person waits meanwhile. */
const REGISTRATION_MS = 5_000;

/** Whether the provider takes the client's secret no more: nothing can be asked of its token endpoint. */
export function isClientOver({ clientSecretExpiresAt }: OAuthProvider): boolean {
  return clientSecretExpiresAt !== null && clientSecretExpiresAt.getTime() <= Date.now();
}

/** A secret of a short life serves for half of it: each new client takes from those who have tokens what they refresh them with. */
function isRenewalDue({ clientSecretExpiresAt, clientRegisteredAt, createdAt }: OAuthProvider): boolean {
  if (clientSecretExpiresAt === null) return false;
  const end = clientSecretExpiresAt.getTime();
  const lifetimeMs = end - (clientRegisteredAt ?? createdAt).getTime();
  return end - Date.now() <= Math.min(AHEAD_MS, lifetimeMs / 2);
}

/**
 * Registers the platform anew where a server gave it a secret for a while: there is no other way to get the next one. Whoever is on
 * the way to the provider meanwhile comes back to the client that they were sent as.
 */
export class ClientRenewal {
  readonly #database: Database;
  readonly #clients: ProviderClients;
  readonly #requests: ProviderRequests;
  readonly #redirectUris: RedirectUris;

  constructor(options: {
    database: Database;
    clients: ProviderClients;
    requests: ProviderRequests;
    redirectUris: RedirectUris;
  }) {
    this.#database = options.database;
    this.#clients = options.clients;
    this.#requests = options.requests;
    this.#redirectUris = options.redirectUris;
  }

  /**
   * The provider with a client that is good for a while. Refresh tokens of the client before it are refused from then on, and
   * their people asked again.
   *
   * @throws ProviderRefusedError, ProviderAwayError
   */
  async renewed(provider: OAuthProvider): Promise<OAuthProvider> {
    const server = provider.serverMetadata as unknown as AuthorizationServer | null;
    const isDue = provider.isDynamicClient && isRenewalDue(provider);
    if (!isDue || !server?.registration_endpoint) return provider;
    try {
      return await this.#register(provider, server);
    } catch (error) {
      if (!isClientOver(provider)) return provider; // It will do once more.
      throw providerError(provider.providerId, error);
    }
  }

  async #register(provider: OAuthProvider, server: AuthorizationServer): Promise<OAuthProvider> {
    const { id, providerId, name, clientId } = provider;
    const { prisma } = this.#database;
    const redirectUri = this.#redirectUris.of(providerId);
    const deadline = AbortSignal.timeout(REGISTRATION_MS);
    const client = await registerClient(server, { name, redirectUri }, this.#requests, deadline);
    // Of several that came to it at once the first counts.
    await prisma.oAuthProvider.updateMany({
      where: { id, clientId },
      data: {
        clientId: toSqlText(client.clientId),
        sealedClientSecret: this.#clients.sealSecret(id, client.clientSecret),
        clientSecretExpiresAt: client.clientSecretExpiresAt,
        clientRegisteredAt: new Date(),
        tokenEndpointAuthMethod: client.authMethod,
      },
    });
    return prisma.oAuthProvider.findUniqueOrThrow({ where: { id } });
  }
}
