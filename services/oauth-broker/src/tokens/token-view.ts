import type { OAuthTokenSummary } from '@runyard/contracts';
import type { OAuthProvider, OAuthToken } from '../generated/client.ts';

export function tokenView(token: OAuthToken & { provider: Pick<OAuthProvider, 'providerId'> }): OAuthTokenSummary {
  return {
    id: token.id,
    provider_id: token.provider.providerId,
    provider_account_label: token.providerAccountLabel,
    scopes: token.scopes,
    expires_at: token.expiresAt?.toISOString() ?? null,
    is_default: token.isDefault,
    created_at: token.createdAt.toISOString(),
    updated_at: token.updatedAt.toISOString(),
  };
}
