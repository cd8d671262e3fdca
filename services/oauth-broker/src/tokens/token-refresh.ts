import { randomUUID } from 'node:crypto';
import { acquireLease, releaseLease } from '@runyard/leases';
import type { Logger } from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { Database } from '../database/database.ts';
import type { OAuthToken } from '../generated/client.ts';
import { isGrantRefused, ProviderUnavailableError } from '../protocol/errors.ts';
import type { Grant } from '../protocol/provider-client.ts';
import { isClientSecretExpired } from '../providers/client-renewal.ts';
import type { ProviderClients } from '../providers/provider-clients.ts';
import type { TokenWithProvider } from '../providers/revocations.ts';
import type { TokenSecrets, TokenVault } from '../token-vault.ts';

/** Milliseconds before its expiry at which a token is refreshed, so that its caller has time to use it. */
const AHEAD_MS = 60_000;
/**
 * Milliseconds by which the lease on a refresh is longer than a provider may take. When its process dies, others wait
 * until it ends.
 */
const LEASE_MARGIN_MS = 5_000;

interface Dependencies {
  database: Database;
  clients: ProviderClients;
  vault: TokenVault;
  signals: Signals;
  logger: Logger;
  providerTimeoutMs: number;
}

/** A token that is valid now; null when only its owner can make it usable. */
export type UsableToken = Pick<TokenSecrets, 'accessToken' | 'metadata'> | null;

/**
 * Returns tokens and refreshes them before they expire. Only one of all processes refreshes a token, and the others
 * wait for its result: a provider that rotates refresh tokens takes the second use of one for a theft.
 */
export class TokenRefresh {
  readonly #dependencies: Dependencies;
  readonly #inFlight = new Map<string, Promise<UsableToken>>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws ProviderUnavailableError when the token has expired and the provider is unavailable */
  async findUsable(tokenId: string): Promise<UsableToken> {
    const token = await this.#read(tokenId);
    if (!token) return null;
    return this.#takeIfValid(token, AHEAD_MS) ?? this.#refreshOnce(token.id);
  }

  async #read(id: string): Promise<TokenWithProvider | null> {
    return this.#dependencies.database.prisma.oAuthToken.findUnique({ where: { id }, include: { provider: true } });
  }

  /** Returns the token if it is valid for this long. `AHEAD_MS` is only for tokens that can be refreshed. */
  #takeIfValid(token: TokenWithProvider, aheadMs: number): UsableToken {
    const { accessToken, metadata } = this.#dependencies.vault.decrypt(token);
    return remainingMs(token) > aheadMs ? { accessToken, metadata } : null;
  }

  #refreshOnce(id: string): Promise<UsableToken> {
    let refreshed = this.#inFlight.get(id);
    if (!refreshed) {
      refreshed = this.#refreshOrWait(id).finally(() => this.#inFlight.delete(id));
      this.#inFlight.set(id, refreshed);
    }
    return refreshed;
  }

  async #refreshOrWait(id: string): Promise<UsableToken> {
    const { database, signals, providerTimeoutMs } = this.#dependencies;
    const leaseMs = providerTimeoutMs + LEASE_MARGIN_MS;
    const lease = { name: `refresh of OAuth token ${id}`, owner: randomUUID() };
    const until = Date.now() + leaseMs + LEASE_MARGIN_MS;
    const listening = signals.listen(signalOf(id));
    try {
      for (;;) {
        if (await acquireLease(database.pool, { ...lease, leaseMs })) {
          return await this.#refresh(id).finally(async () => {
            await releaseLease(database.pool, lease).catch(() => undefined); // Otherwise the lease expires.
            signals.send(signalOf(id));
          });
        }
        await listening.next(Math.min(leaseMs, until - Date.now()));
        const token = await this.#read(id);
        if (!token) return null;
        const usable = this.#takeIfValid(token, AHEAD_MS);
        if (usable) return usable;
        if (Date.now() >= until) return this.#takeIfValid(token, 0) ?? failTimedOut(token);
      }
    } finally {
      listening.stop();
    }
  }

  /** Refreshes the token. Called only by the process that holds the lease. */
  async #refresh(id: string): Promise<UsableToken> {
    const { vault, clients, logger } = this.#dependencies;
    const token = await this.#read(id);
    if (!token) return null;
    const secrets = vault.decrypt(token);
    const { refreshToken } = secrets;
    // Another process may have refreshed the token. A refresh token is never sent to another origin than its own.
    const isSamePlace = secrets.origin === new URL(token.provider.tokenUrl).origin;
    const isRefreshable = refreshToken !== null && isSamePlace && !isClientSecretExpired(token.provider);
    const usable = this.#takeIfValid(token, isRefreshable ? AHEAD_MS : 0);
    if (usable || !isRefreshable) return usable;
    try {
      const grant = await (await clients.openClient(token.provider)).refresh(refreshToken);
      return await this.#storeGrant(token, grant, secrets);
    } catch (error) {
      if (isGrantRefused(error)) return this.#forgetRefreshToken(token, secrets);
      const stillGood = this.#takeIfValid(token, 0);
      if (!stillGood) throw error;
      logger.warn('OAuth token refresh failed, token still valid', { tokenId: id, error });
      return stillGood;
    }
  }

  async #storeGrant(token: TokenWithProvider, grant: Grant, secrets: TokenSecrets): Promise<UsableToken> {
    const { accessToken, refreshToken = secrets.refreshToken, expiresAt, scopes } = grant;
    const metadata = { ...secrets.metadata, ...grant.metadata };
    return this.#replace(token, {
      encrypted: this.#dependencies.vault.encrypt(token, { ...secrets, accessToken, refreshToken, metadata }),
      expiresAt,
      scopes: scopes ?? token.scopes,
    });
  }

  /** Forgets the refresh token, because the provider refused it and further attempts would be in vain. */
  async #forgetRefreshToken(token: TokenWithProvider, secrets: TokenSecrets): Promise<UsableToken> {
    return this.#replace(token, {
      encrypted: this.#dependencies.vault.encrypt(token, { ...secrets, refreshToken: null }),
    });
  }

  async #replace(token: TokenWithProvider, data: Pick<OAuthToken, 'encrypted'> & Partial<OAuthToken>) {
    await this.#dependencies.database.prisma.oAuthToken.updateMany({
      where: { id: token.id, version: token.version },
      data: { ...data, version: { increment: 1 } },
    });
    const now = await this.#read(token.id);
    return now && this.#takeIfValid(now, 0);
  }
}

const signalOf = (id: string) => `token ${id}`;

function remainingMs({ expiresAt }: OAuthToken): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - Date.now();
}

function failTimedOut({ provider }: TokenWithProvider): never {
  throw new ProviderUnavailableError(`The OAuth provider '${provider.providerId}' did not refresh a token in time.`);
}
