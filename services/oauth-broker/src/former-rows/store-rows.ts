import type {
  FormerAgentConnection,
  FormerOAuthFlow,
  FormerOAuthProvider,
  FormerOAuthToken,
  FormerRows,
} from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import { placeOf } from '../database/encryption-places.ts';
import { Prisma } from '../generated/client.ts';

/**
 * Stores a page of rows; those that are here already stay as they are. A provider is not stored where the organization has
 * made another one with its name meanwhile, and with it nothing that belongs to it.
 *
 * @returns the ids of the rows of the page's kind that are here now
 */
export async function storeRows(
  transaction: Prisma.TransactionClient,
  cipher: Cipher,
  page: FormerRows,
): Promise<string[]> {
  const skipDuplicates = true;
  const data = page.providers.map((row) => providerOf(row, cipher));
  await transaction.oAuthProvider.createMany({ data, skipDuplicates });
  const providers = await transaction.oAuthProvider.findMany({
    where: { id: { in: page.providers.map(({ id }) => id) } },
    select: { id: true },
  });
  const here = new Set(providers.map(({ id }) => id));
  const isHere = ({ provider_uuid }: { provider_uuid: string }) => here.has(provider_uuid);
  const [tokens, flows] = [page.tokens.filter(isHere), page.flows.filter(isHere)];
  const connections = page.connections.filter(isHere);
  await transaction.oAuthToken.createMany({ data: tokens.map((row) => tokenOf(row, cipher)), skipDuplicates });
  await transaction.oAuthFlow.createMany({ data: flows.map((row) => flowOf(row, cipher)), skipDuplicates });
  await transaction.agentConnection.createMany({ data: connections.map(connectionOf), skipDuplicates });
  return { providers, tokens, flows, connections }[page.kind].map(({ id }) => id);
}

function providerOf(row: FormerOAuthProvider, cipher: Cipher): Prisma.OAuthProviderCreateManyInput {
  return {
    id: row.id,
    organizationId: row.organization_id,
    providerId: row.provider_id,
    name: row.name,
    clientId: row.client_id,
    encryptedClientSecret: encrypt(cipher, row.client_secret, placeOf.clientSecret(row.id)),
    authUrl: row.auth_url,
    tokenUrl: row.token_url,
    usesPkce: row.uses_pkce,
    codeChallengeMethod: row.code_challenge_method,
    providerType: row.provider_type,
    tokenEndpointAuthMethod: row.token_endpoint_auth_method,
    mcpServerUrl: row.mcp_server_url,
    resource: row.resource,
    isDynamicClient: row.is_dynamic_client,
    clientRegisteredAt: row.client_registered_at,
    clientSecretExpiresAt: row.client_secret_expires_at,
    serverMetadata: (row.server_metadata as Prisma.InputJsonObject | null) ?? Prisma.DbNull,
    metadataCheckedAt: row.metadata_checked_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function tokenOf(row: FormerOAuthToken, cipher: Cipher): Prisma.OAuthTokenCreateManyInput {
  const { id, organization_id: organizationId } = row;
  return {
    id,
    organizationId,
    providerUuid: row.provider_uuid,
    owner: row.owner,
    subject: row.subject,
    workspaceId: row.workspace_id,
    providerAccountLabel: row.provider_account_label,
    encrypted: cipher.encrypt(row.secrets, placeOf.token({ id, organizationId })),
    scopes: row.scopes,
    askedScopes: row.asked_scopes,
    expiresAt: row.expires_at,
    isDefault: row.is_default,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function flowOf(row: FormerOAuthFlow, cipher: Cipher): Prisma.OAuthFlowCreateManyInput {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    owner: row.owner,
    subject: row.subject,
    personId: row.person_id,
    providerUuid: row.provider_uuid,
    stateDigest: new Uint8Array(Buffer.from(row.state_digest, 'base64')),
    encryptedCodeVerifier: encrypt(cipher, row.code_verifier, placeOf.codeVerifier(row.id)),
    clientId: row.client_id,
    encryptedClientSecret: encrypt(cipher, row.client_secret, placeOf.clientSecret(row.provider_uuid)),
    tokenEndpointAuthMethod: row.token_endpoint_auth_method,
    redirectUri: row.redirect_uri,
    scopes: row.scopes,
    isDefault: row.is_default,
    renewsTokenId: row.renews_token_id,
    status: row.status,
    tokenId: row.token_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

function connectionOf(row: FormerAgentConnection): Prisma.AgentConnectionCreateManyInput {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    // Older releases ended connections when they deleted the last deployment of a name: those left are of the first.
    agentGeneration: 0,
    tokenId: row.token_id,
    providerUuid: row.provider_uuid,
    createdBy: row.created_by,
    createdAt: row.created_at,
  };
}

function encrypt(cipher: Cipher, value: string | null, place: string): string | null {
  return value === null ? null : cipher.encrypt(value, place);
}
