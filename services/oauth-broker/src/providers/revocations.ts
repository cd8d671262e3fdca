import type { Logger } from '@runyard/service-kit';
import type { OAuthProvider, OAuthToken } from '../generated/client.ts';
import type { TokenVault } from '../token-vault.ts';
import type { ProviderClients } from './provider-clients.ts';

export type TokenWithProvider = OAuthToken & { provider: OAuthProvider };

const AT_ONCE = 8;
/** Limits the revocation of many tokens together; those left by then count as failed. */
const ALL_MS = 20_000;

/** Revokes tokens at their providers. */
export class Revocations {
  readonly #clients: ProviderClients;
  readonly #vault: TokenVault;
  readonly #logger: Logger;

  constructor(options: { clients: ProviderClients; vault: TokenVault; logger: Logger }) {
    this.#clients = options.clients;
    this.#vault = options.vault;
    this.#logger = options.logger;
  }

  /** Resolves also for a provider without revocation. @throws ProviderUnavailableError, ProviderRefusedError */
  async revoke(token: TokenWithProvider): Promise<void> {
    const { accessToken, refreshToken, origin } = this.#vault.decrypt(token);
    if (origin !== new URL(token.provider.tokenUrl).origin) return;
    await (await this.#clients.openClient(token.provider)).revokeBoth({ accessToken, refreshToken });
  }

  /** Tries to revoke each token and returns the number of failures. */
  async revokeAll(tokens: readonly TokenWithProvider[]): Promise<{ failed: number }> {
    const deadline = Date.now() + ALL_MS;
    const waiting = [...tokens];
    let failed = 0;
    const work = async () => {
      for (let token = waiting.shift(); token; token = waiting.shift()) {
        try {
          if (Date.now() > deadline) throw new Error('there was no time left to revoke it');
          await this.revoke(token);
        } catch (error) {
          failed += 1;
          this.#logger.warn('OAuth token deleted without revocation', { tokenId: token.id, error });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { failed };
  }
}
