import type { AgentTokenImport } from '@runyard/contracts';
import type { OAuthProvider } from '../generated/client.ts';
import type { TokenVault } from '../token-vault.ts';
import { type NewToken, tokenStore } from './token-store.ts';

/** Makes the row of an imported token. The caller adds its owner and whether it is the default. */
export function makeImportedToken(
  vault: TokenVault,
  provider: OAuthProvider,
  body: AgentTokenImport,
): Omit<NewToken, 'identity' | 'isDefault'> {
  const { organizationId } = provider;
  const id = tokenStore.newId();
  const seconds = body.expires_in_seconds ?? undefined;
  return {
    id,
    organizationId,
    provider,
    subject: '',
    workspaceId: null,
    providerAccountLabel: null,
    encrypted: vault.encrypt(
      { id, organizationId },
      {
        accessToken: body.access_token,
        refreshToken: body.refresh_token ?? null,
        metadata: body.metadata ?? {},
        origin: new URL(provider.tokenUrl).origin,
      },
    ),
    scopes: body.scopes ?? [],
    askedScopes: [],
    expiresAt: seconds === undefined ? null : new Date(Date.now() + seconds * 1000),
  };
}
