import { toSqlText } from '@runyard/database';
import type { AuthorizationServer } from 'oauth4webapi';
import type { Database } from '../database/database.ts';
import type { OAuthProvider } from '../generated/client.ts';
import { providerError } from '../protocol/errors.ts';
import type { ProviderRequests } from '../protocol/provider-requests.ts';
import { registerClient } from './client-registration.ts';
import type { ProviderClients } from './provider-clients.ts';
import type { RedirectUris } from './redirect-uris.ts';

/**
 * Milliseconds before its end at which a secret is replaced, if it lives longer: a person on the way to the provider
 * needs that time.
 */
const AHEAD_MS = 3_600_000;
/** A person waits meanwhile. */
const REGISTRATION_MS = 5_000;

/** Returns whether the client secret has expired. Then the token endpoint cannot be used. */
export function isClientSecretExpired({ clientSecretExpiresAt }: OAuthProvider): boolean {
  return clientSecretExpiresAt !== null && clientSecretExpiresAt.getTime() <= Date.now();
}

/**
 * Returns whether the client has to be renewed. A short-lived secret is used for half of its life, because each new
 * client invalidates the existing refresh tokens.
 */
function isRenewalDue({ clientSecretExpiresAt, clientRegisteredAt, createdAt }: OAuthProvider): boolean {
  if (clientSecretExpiresAt === null) return false;
  const end = clientSecretExpiresAt.getTime();
  const lifetimeMs = end - (clientRegisteredAt ?? createdAt).getTime();
  return end - Date.now() <= Math.min(AHEAD_MS, lifetimeMs / 2);
}

/**
 * Registers the platform again at servers that issue client secrets with an expiry, which is the only way to get the
 * next one. A flow that is in progress ends with the client it began with.
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
   * Returns the provider with a client that is valid for a while. A renewal invalidates the refresh tokens of the
   * client before, so that users have to authorize again.
   *
   * @throws ProviderRefusedError, ProviderUnavailableError
   */
  async renewIfDue(provider: OAuthProvider): Promise<OAuthProvider> {
    const server = provider.serverMetadata as unknown as AuthorizationServer | null;
    const isDue = provider.isDynamicClient && isRenewalDue(provider);
    if (!isDue || !server?.registration_endpoint) return provider;
    try {
      return await this.#register(provider, server);
    } catch (error) {
      if (!isClientSecretExpired(provider)) return provider; // The current secret is still valid.
      throw providerError(provider.providerId, error);
    }
  }

  async #register(provider: OAuthProvider, server: AuthorizationServer): Promise<OAuthProvider> {
    const { id, providerId, name, clientId } = provider;
    const { prisma } = this.#database;
    const redirectUri = this.#redirectUris.uriOf(providerId);
    const deadline = AbortSignal.timeout(REGISTRATION_MS);
    const client = await registerClient(server, { name, redirectUri }, this.#requests, deadline);
    // The first of several concurrent registrations is stored.
    await prisma.oAuthProvider.updateMany({
      where: { id, clientId },
      data: {
        clientId: toSqlText(client.clientId),
        encryptedClientSecret: this.#clients.encryptSecret(id, client.clientSecret),
        clientSecretExpiresAt: client.clientSecretExpiresAt,
        clientRegisteredAt: new Date(),
        tokenEndpointAuthMethod: client.authMethod,
      },
    });
    return prisma.oAuthProvider.findUniqueOrThrow({ where: { id } });
  }
}
