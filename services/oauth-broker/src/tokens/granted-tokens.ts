import type { Database } from '../database/database.ts';
import type { OAuthFlow, OAuthProvider, OAuthToken, Prisma } from '../generated/client.ts';
import type { Grant } from '../protocol/provider-client.ts';
import type { TokenVault } from '../token-vault.ts';
import { tokenStore } from './token-store.ts';

/** Stores the tokens that flows obtain. */
export class GrantedTokens {
  readonly #database: Database;
  readonly #vault: TokenVault;

  constructor(options: { database: Database; vault: TokenVault }) {
    this.#database = options.database;
    this.#vault = options.vault;
  }

  /**
   * Stores the token and completes its flow in one transaction. Replaces the token that the flow renews, if it still
   * exists. Returns false, and stores nothing, when the flow was ended meanwhile.
   */
  async store(flow: OAuthFlow & { provider: OAuthProvider }, grant: Grant): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      // The update locks the row: whoever ends flows comes before it, or finds the token.
      const { count } = await transaction.oAuthFlow.updateMany({
        where: { id: flow.id, status: 'exchanging' },
        data: { status: 'completed', encryptedCodeVerifier: null, encryptedClientSecret: null },
      });
      if (count === 0) return false;
      const token = (await this.#renew(transaction, flow, grant)) ?? (await this.#insert(transaction, flow, grant));
      if (flow.isDefault) await tokenStore.leaveOneDefault(transaction, token);
      await transaction.oAuthFlow.update({ where: { id: flow.id }, data: { tokenId: token.id } });
      return true;
    });
  }

  async #renew(
    transaction: Prisma.TransactionClient,
    flow: OAuthFlow & { provider: OAuthProvider },
    grant: Grant,
  ): Promise<OAuthToken | null> {
    const { renewsTokenId, owner, organizationId, providerUuid } = flow;
    if (renewsTokenId === null) return null;
    const { count } = await transaction.oAuthToken.updateMany({
      where: { id: renewsTokenId, owner, organizationId, providerUuid },
      data: {
        ...this.#makeFields(renewsTokenId, flow, grant),
        version: { increment: 1 },
        ...(flow.isDefault ? { isDefault: true } : {}),
      },
    });
    return count === 0 ? null : transaction.oAuthToken.findUniqueOrThrow({ where: { id: renewsTokenId } });
  }

  #insert(
    transaction: Prisma.TransactionClient,
    flow: OAuthFlow & { provider: OAuthProvider },
    grant: Grant,
  ): Promise<OAuthToken> {
    const { organizationId, provider, owner, subject, isDefault } = flow;
    const id = tokenStore.newId();
    const granted = this.#makeFields(id, flow, grant);
    return tokenStore.insert(transaction, {
      id,
      organizationId,
      provider,
      identity: owner,
      subject,
      isDefault,
      ...granted,
    });
  }

  #makeFields(id: string, flow: OAuthFlow & { provider: OAuthProvider }, grant: Grant) {
    const { organizationId, provider, scopes, workspaceId } = flow;
    return {
      encrypted: this.#vault.encrypt(
        { id, organizationId },
        {
          accessToken: grant.accessToken,
          refreshToken: grant.refreshToken ?? null,
          metadata: grant.metadata,
          origin: new URL(provider.tokenUrl).origin,
        },
      ),
      scopes: grant.scopes ?? scopes,
      askedScopes: scopes,
      expiresAt: grant.expiresAt,
      providerAccountLabel: grant.accountLabel,
      workspaceId: grant.isOfWorkspace ? workspaceId : null,
    };
  }
}
