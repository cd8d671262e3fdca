import type { McpDiscoverRequest, OAuthProvider, OAuthProviderCreate, OAuthProviderPatch } from '@runyard/contracts';
import { takeAdvisoryLock, toSqlText } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { type OutboundPolicy, OutboundRefusedError } from '@runyard/outbound';
import { BadRequestError, ConflictError, NotFoundError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import type { OAuthProvider as Row } from '../generated/client.ts';
import { Prisma } from '../generated/client.ts';
import type { ProviderRequests } from '../protocol/provider-requests.ts';
import { endFlows } from './end-flows.ts';
import { discoverMcpServer } from './mcp-discovery.ts';
import type { ProviderClients } from './provider-clients.ts';
import { providerStore } from './provider-store.ts';
import { providerView } from './provider-view.ts';
import type { RedirectUris } from './redirect-uris.ts';
import type { Revocations } from './revocations.ts';

interface Dependencies {
  database: Database;
  clients: ProviderClients;
  policy: OutboundPolicy;
  requests: ProviderRequests;
  redirectUris: RedirectUris;
  revocations: Revocations;
}

/**
 * Manages the OAuth providers of organizations. All members may see them. Administrators create and change them, because
 * providers decide where an organization's users are sent, and who gets their tokens.
 */
export class ProviderService {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async list({ organizationId }: Principal): Promise<OAuthProvider[]> {
    return (await providerStore.list(this.#dependencies.database.prisma, organizationId)).map(providerView);
  }

  async get(caller: Principal, providerId: string): Promise<OAuthProvider> {
    return providerView(await this.find(caller.organizationId, providerId));
  }

  /** @throws NotFoundError */
  async find(organizationId: string, providerId: string): Promise<Row> {
    const row = await providerStore.find(this.#dependencies.database.prisma, organizationId, providerId);
    if (!row) throw missing(providerId);
    return row;
  }

  async create(caller: Principal, body: OAuthProviderCreate, keyed?: KeyedRequest): Promise<OAuthProvider> {
    const id = uuidv7();
    return this.#insert(
      {
        id,
        organizationId: caller.organizationId,
        providerId: body.provider_id,
        name: toSqlText(body.name),
        clientId: toSqlText(body.client_id),
        encryptedClientSecret: this.#dependencies.clients.encryptSecret(id, body.client_secret),
        authUrl: this.#address(body.auth_url),
        tokenUrl: this.#address(body.token_url),
        usesPkce: body.uses_pkce ?? false,
        codeChallengeMethod: body.code_challenge_method ?? 'S256',
        providerType: body.provider_type ?? null,
        tokenEndpointAuthMethod: body.token_endpoint_auth_method ?? 'client_secret_post',
        createdBy: caller.identity,
      },
      keyed,
    );
  }

  async discover(caller: Principal, body: McpDiscoverRequest): Promise<OAuthProvider> {
    const { database, clients, requests, redirectUris } = this.#dependencies;
    const { provider_id: providerId } = body;
    const name = toSqlText(body.name);
    const mcpServerUrl = this.#address(body.mcp_server_url);
    if (await providerStore.find(database.prisma, caller.organizationId, providerId)) throw taken(providerId);
    const redirectUri = redirectUris.uriOf(providerId);
    const request = { providerId, name, mcpServerUrl: new URL(mcpServerUrl), redirectUri };
    const { server, resource, clientId, clientSecret, clientSecretExpiresAt, authMethod } = await discoverMcpServer(
      request,
      requests,
    );
    const id = uuidv7();
    return this.#insert({
      id,
      organizationId: caller.organizationId,
      providerId,
      name,
      clientId: toSqlText(clientId),
      encryptedClientSecret: clients.encryptSecret(id, clientSecret),
      clientSecretExpiresAt,
      clientRegisteredAt: new Date(),
      authUrl: this.#address(server.authorization_endpoint!),
      tokenUrl: this.#address(server.token_endpoint!),
      usesPkce: true,
      codeChallengeMethod: 'S256',
      tokenEndpointAuthMethod: authMethod,
      mcpServerUrl,
      resource,
      isDynamicClient: true,
      serverMetadata: server as object,
      metadataCheckedAt: new Date(),
      createdBy: caller.identity,
    });
  }

  /**
   * Changes a provider. A change of its addresses ends pending authorizations.
   *
   * @throws BadRequestError also when a new address would get the existing secret
   */
  async patch(caller: Principal, providerId: string, patch: OAuthProviderPatch): Promise<OAuthProvider> {
    const { database, clients } = this.#dependencies;
    const { organizationId } = caller;
    const addresses = {
      authUrl: patch.auth_url ? this.#address(patch.auth_url) : undefined,
      tokenUrl: patch.token_url ? this.#address(patch.token_url) : undefined,
    };
    return database.transact(async (transaction) => {
      await takeAdvisoryLock(transaction, `OAuth provider ${organizationId}/${toSqlText(providerId)}`);
      const current = await providerStore.find(transaction, organizationId, providerId);
      if (!current) throw missing(providerId);
      const isElsewhere = Object.entries(addresses).some(
        ([name, url]) => url !== undefined && url !== current[name as keyof typeof addresses],
      );
      if (isElsewhere && current.encryptedClientSecret !== null && !patch.client_secret) {
        throw new BadRequestError(
          "Changing the address of a provider needs its 'client_secret' again: the one it has is not sent anywhere else.",
          { code: 'oauth_client_secret_required' },
        );
      }
      if (isElsewhere) {
        // A code of the old server must not be sent to the new one.
        await endFlows(transaction, { providerUuid: current.id });
      }
      // The provider used no secret so far, so its method may change.
      const isUnused = current.encryptedClientSecret === null && current.tokenEndpointAuthMethod === 'none';
      const changed = await transaction.oAuthProvider.update({
        where: { id: current.id },
        data: {
          name: normalizeText(patch.name),
          clientId: normalizeText(patch.client_id),
          ...addresses,
          usesPkce: patch.uses_pkce ?? undefined,
          codeChallengeMethod: patch.code_challenge_method ?? undefined,
          ...(patch.client_secret
            ? {
                encryptedClientSecret: clients.encryptSecret(current.id, patch.client_secret),
                clientSecretExpiresAt: null,
              }
            : {}),
          ...(patch.client_secret && isUnused ? { tokenEndpointAuthMethod: 'client_secret_post' } : {}),
          // The metadata belong to the old server.
          ...(isElsewhere ? { serverMetadata: Prisma.DbNull, metadataCheckedAt: null } : {}),
        },
      });
      return providerView(changed);
    });
  }

  async delete(caller: Principal, providerId: string): Promise<string> {
    const { database, revocations } = this.#dependencies;
    const provider = await this.find(caller.organizationId, providerId);
    // A token that is issued from now on is revoked by the flow that requested it.
    await endFlows(database.prisma, { providerUuid: provider.id });
    const tokens = await database.prisma.oAuthToken.findMany({ where: { providerUuid: provider.id } });
    const { failed } = await revocations.revokeAll(tokens.map((token) => ({ ...token, provider })));
    await database.prisma.oAuthProvider.deleteMany({ where: { id: provider.id } });
    const untold = failed === 0 ? '' : ` It could not be told to revoke ${failed} of its tokens.`;
    return `OAuth provider '${providerId}' deleted.${untold}`;
  }

  async #insert(data: Prisma.OAuthProviderCreateInput, keyed?: KeyedRequest): Promise<OAuthProvider> {
    try {
      return await this.#dependencies.database.transact(
        withIdempotencyKey(keyed, async (transaction) =>
          providerView(await transaction.oAuthProvider.create({ data })),
        ),
      );
    } catch (error) {
      const isTaken = error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
      throw isTaken ? taken(data.providerId) : error;
    }
  }

  /** @throws BadRequestError for an address that is forbidden for requests or browsers */
  #address(url: string): string {
    try {
      return this.#dependencies.policy.checkUrl(url).href;
    } catch (error) {
      throw error instanceof OutboundRefusedError
        ? new BadRequestError(`${error.message}.`, { code: 'url_refused' })
        : error;
    }
  }
}

/** A missing field and null both leave the value as it is. */
const normalizeText = (text: string | null | undefined) => (text == null ? undefined : toSqlText(text));
const missing = (providerId: string) => new NotFoundError(`OAuth provider '${providerId}' not found.`);
const taken = (providerId: string) =>
  new ConflictError(`An OAuth provider '${providerId}' already exists in this organization.`, {
    code: 'oauth_provider_exists',
  });
