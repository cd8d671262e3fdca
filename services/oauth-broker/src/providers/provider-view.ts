import type { OAuthProvider } from '@runyard/contracts';
import type { OAuthProvider as Row } from '../generated/client.ts';

export function providerView(row: Row): OAuthProvider {
  return {
    id: row.id,
    organization_id: row.organizationId,
    provider_id: row.providerId,
    name: row.name,
    client_id: row.clientId,
    auth_url: row.authUrl,
    token_url: row.tokenUrl,
    uses_pkce: row.usesPkce,
    code_challenge_method: row.codeChallengeMethod as OAuthProvider['code_challenge_method'],
    provider_type: row.providerType as OAuthProvider['provider_type'],
    // The stored method is for a secret that may be set later.
    token_endpoint_auth_method:
      row.encryptedClientSecret === null
        ? 'none'
        : (row.tokenEndpointAuthMethod as OAuthProvider['token_endpoint_auth_method']),
    mcp_server_url: row.mcpServerUrl,
    is_dynamic_client: row.isDynamicClient,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
