import { decodeJwt } from 'jose';
import { endSessions } from '../../../access/credentials/end-sessions.ts';
import { audited } from '../../../audit/audit-trail.ts';
import type { Database } from '../../../database/database.ts';
import { isTaken } from '../../../database/is-taken.ts';
import type { SsoProvider } from '../../../generated/client.ts';
import { oidcOf } from '../provider-configuration.ts';
import type { LogoutToken, OidcClient } from './oidc-client.ts';

const AUDIENCES_MAX = 5;

/** Ends the sessions that a provider says are over (OpenID Connect Back-Channel Logout). */
export class BackchannelLogout {
  readonly #database: Database;
  readonly #client: OidcClient;

  constructor(options: { database: Database; client: OidcClient }) {
    this.#database = options.database;
    this.#client = options.client;
  }

  /**
   * Ends the sessions of all providers that the token is of: an organization, or several, may have the same client of an
   * identity provider more than once.
   *
   * @returns false when the token is not valid, or was used before
   */
  async end(logoutToken: string): Promise<boolean> {
    let hasEnded = false;
    for (const provider of await this.#providersOf(logoutToken)) {
      const token = await this.#client.verifyLogoutToken(provider, logoutToken).catch(() => null);
      if (token && (await this.#endSessions(provider, token))) hasEnded = true;
    }
    return hasEnded;
  }

  /** Returns the providers that the token claims to be from. Nothing of it has been checked yet. */
  async #providersOf(logoutToken: string): Promise<SsoProvider[]> {
    let claimed: { iss?: string; aud?: string | string[] };
    try {
      claimed = decodeJwt(logoutToken);
    } catch {
      return [];
    }
    // Nobody has verified it yet: its claims may be anything.
    const audience = [claimed.aud ?? []].flat().filter((each) => typeof each === 'string');
    if (typeof claimed.iss !== 'string') return [];
    const providers = await this.#database.prisma.ssoProvider.findMany({
      where: {
        protocol: 'oidc',
        isEnabled: true,
        OR: audience.slice(0, AUDIENCES_MAX).map((clientId) => ({
          configuration: { path: ['clientId'], equals: clientId },
        })),
      },
    });
    const withoutSlash = (url: string | undefined) => url?.replace(/\/$/, '');
    return providers.filter((provider) => withoutSlash(oidcOf(provider).issuerUrl) === withoutSlash(claimed.iss));
  }

  async #endSessions(provider: SsoProvider, { jti, sub, sid, expiresAt }: LogoutToken): Promise<boolean> {
    try {
      await this.#database.transact(
        audited(async (transaction, audit) => {
          await transaction.usedAssertion.create({
            data: { ssoProviderId: provider.id, assertionId: `logout ${jti}`, expiresAt },
          });
          const ended = await endSessions(
            transaction,
            {
              ssoProviderId: provider.id,
              ...(sid !== null && { providerSessionId: sid }),
              ...(sub !== null && { providerSubject: sub }),
            },
            'signed_out_by_provider',
          );
          audit.record(provider.organizationId, {
            action: 'sso_provider.sessions_ended',
            resourceType: 'sso_provider',
            resourceId: provider.id,
            details: { sessions: ended },
          });
        }),
      );
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }
}
