import type { Cipher } from '@runyard/encryption';
import type { AuthorizationServer } from 'oauth4webapi';
import type { Database } from '../database/database.ts';
import { placeOf } from '../database/encryption-places.ts';
import type { OAuthProvider } from '../generated/client.ts';
import { ProviderClient, type ProviderSettings } from '../protocol/provider-client.ts';
import type { ProviderRequests } from '../protocol/provider-requests.ts';
import { discoverConfiguredServer, supportsS256 } from '../protocol/server-metadata.ts';

/** A person waits meanwhile. */
const DISCOVERY_MS = 3_000;
/** Milliseconds until a server without metadata is asked again. */
const RECHECK_MS = 10 * 60_000;

/** Makes clients of providers: decrypts their secrets and finds their servers' metadata. */
export class ProviderClients {
  readonly #database: Database;
  readonly #cipher: Cipher;
  readonly #requests: ProviderRequests;

  constructor(options: { database: Database; cipher: Cipher; requests: ProviderRequests }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
    this.#requests = options.requests;
  }

  async openClient(provider: OAuthProvider): Promise<ProviderClient> {
    return new ProviderClient(
      settingsOf(provider, await this.#serverOf(provider), this.#secretOf(provider)),
      this.#requests,
    );
  }

  /** Returns whether flows use PKCE: if it is configured, or if the server supports it. */
  async usesPkce(provider: OAuthProvider): Promise<boolean> {
    return provider.usesPkce || supportsS256(await this.#serverOf(provider));
  }

  encryptSecret(id: string, secret: string | null | undefined): string | null {
    return secret ? this.#cipher.encrypt(secret, placeOf.clientSecret(id)) : null;
  }

  #secretOf({ id, encryptedClientSecret }: OAuthProvider): string | null {
    return encryptedClientSecret === null
      ? null
      : this.#cipher.decrypt(encryptedClientSecret, placeOf.clientSecret(id));
  }

  async #serverOf(provider: OAuthProvider): Promise<AuthorizationServer | null> {
    const { id, serverMetadata, metadataCheckedAt } = provider;
    if (serverMetadata !== null) return serverMetadata as unknown as AuthorizationServer;
    if (metadataCheckedAt && Date.now() - metadataCheckedAt.getTime() < RECHECK_MS) return null;
    const found = await discoverConfiguredServer(provider, this.#requests, AbortSignal.timeout(DISCOVERY_MS));
    provider.serverMetadata = found as OAuthProvider['serverMetadata'];
    provider.metadataCheckedAt = new Date();
    // The metadata are stored only if the provider's addresses have not changed meanwhile.
    await this.#database.prisma.oAuthProvider.updateMany({
      where: { id, authUrl: provider.authUrl, tokenUrl: provider.tokenUrl },
      data: { metadataCheckedAt: provider.metadataCheckedAt, ...(found && { serverMetadata: found as object }) },
    });
    return found;
  }
}

function settingsOf(
  provider: OAuthProvider,
  server: AuthorizationServer | null,
  clientSecret: string | null,
): ProviderSettings {
  return {
    providerId: provider.providerId,
    clientId: provider.clientId,
    clientSecret,
    authUrl: provider.authUrl,
    tokenUrl: provider.tokenUrl,
    authMethod: provider.tokenEndpointAuthMethod as ProviderSettings['authMethod'],
    codeChallengeMethod: provider.codeChallengeMethod as ProviderSettings['codeChallengeMethod'],
    type: provider.providerType as ProviderSettings['type'],
    resource: provider.resource,
    server,
  };
}
