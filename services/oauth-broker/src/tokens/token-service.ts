import type { OAuthTokenImport, OAuthTokenPatch, OAuthTokenSummary } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { ProviderService } from '../providers/provider-service.ts';
import type { Revocations, TokenWithProvider } from '../providers/revocations.ts';
import type { TokenVault } from '../token-vault.ts';
import { makeImportedToken } from './imported-token.ts';
import { tokenStore } from './token-store.ts';
import { tokenView } from './token-view.ts';

interface Dependencies {
  database: Database;
  providers: ProviderService;
  vault: TokenVault;
  revocations: Revocations;
}

/** Manages the tokens of a user. Tokens of others are treated as if they did not exist. */
export class TokenService {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async list(caller: Principal, providerId?: string): Promise<OAuthTokenSummary[]> {
    return (await tokenStore.list(this.#dependencies.database.prisma, caller, providerId)).map(tokenView);
  }

  /** Returns whether the caller has a token, for each provider; unknown providers have none. */
  async exist(caller: Principal, providerIds: readonly string[]): Promise<Record<string, boolean>> {
    const found = await tokenStore.providersWithTokens(this.#dependencies.database.prisma, caller, providerIds);
    return Object.fromEntries(providerIds.map((id) => [id, found.has(id)]));
  }

  async import(caller: Principal, body: OAuthTokenImport, keyed?: KeyedRequest): Promise<{ token_id: string }> {
    const { database, providers, vault } = this.#dependencies;
    const provider = await providers.find(caller.organizationId, body.provider_id);
    const token = makeImportedToken(vault, provider, body);
    const isDefault = body.is_default ?? true;
    return database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        await tokenStore.insert(transaction, { ...token, identity: caller.identity, isDefault });
        return { token_id: token.id };
      }),
    );
  }

  async patch(caller: Principal, id: string, patch: OAuthTokenPatch): Promise<OAuthTokenSummary> {
    return this.#dependencies.database.transact(async (transaction) => {
      const token = requireToken(await tokenStore.find(transaction, caller, id));
      const changed = await transaction.oAuthToken.update({
        where: { id: token.id },
        data: {
          providerAccountLabel:
            patch.provider_account_label == null ? token.providerAccountLabel : toSqlText(patch.provider_account_label),
          isDefault: patch.is_default ?? token.isDefault,
        },
        include: { provider: true },
      });
      if (patch.is_default === true) await tokenStore.leaveOneDefault(transaction, changed);
      return tokenView(changed);
    });
  }

  /** @throws ProviderUnavailableError, ProviderRefusedError; then the token stays, as nobody else could revoke it any more */
  async delete(caller: Principal, id: string): Promise<void> {
    const { database, revocations } = this.#dependencies;
    const token = requireToken(await tokenStore.find(database.prisma, caller, id));
    await revocations.revoke(token);
    await tokenStore.delete(database.prisma, [token.id]);
  }

  /** Deletes all tokens of a provider, including those whose revocation fails. The message says how many failed. */
  async deleteAll(caller: Principal, providerId: string): Promise<string> {
    return this.#deleteEach(await tokenStore.list(this.#dependencies.database.prisma, caller, providerId));
  }

  async hasWorkspaceTokens(caller: Principal): Promise<boolean> {
    return (await this.#ofWorkspace(caller)).length > 0;
  }

  async deleteWorkspaceTokens(caller: Principal): Promise<string> {
    return this.#deleteEach(await this.#ofWorkspace(caller));
  }

  #ofWorkspace(caller: Principal): Promise<TokenWithProvider[]> {
    return tokenStore.listOfWorkspace(this.#dependencies.database.prisma, tenantOf(caller));
  }

  async #deleteEach(tokens: readonly TokenWithProvider[]): Promise<string> {
    const { database, revocations } = this.#dependencies;
    const { failed } = await revocations.revokeAll(tokens);
    const count = await tokenStore.delete(
      database.prisma,
      tokens.map(({ id }) => id),
    );
    const untold = failed === 0 ? '' : ` The provider could not be told to revoke ${failed} of them.`;
    return `Deleted ${count} ${count === 1 ? 'token' : 'tokens'}.${untold}`;
  }
}

function requireToken(token: TokenWithProvider | null): TokenWithProvider {
  if (!token) throw new NotFoundError('OAuth token not found.');
  return token;
}
