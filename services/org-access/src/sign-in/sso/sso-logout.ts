import type { Cipher } from '@runyard/encryption';
import { audited } from '../../audit/audit-trail.ts';
import { actAs } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import { endOwnSession } from '../sessions/end-own-sessions.ts';
import { idTokenPlace } from './complete-sign-in.ts';
import type { OidcClient } from './oidc/oidc-client.ts';
import { oidcOf } from './provider-configuration.ts';

/** Signs people out here and, where the provider's settings say so, at the identity provider. */
export class SsoLogout {
  readonly #database: Database;
  readonly #cipher: Cipher;
  readonly #oidc: OidcClient;

  constructor(options: { database: Database; cipher: Cipher; oidc: OidcClient }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
    this.#oidc = options.oidc;
  }

  /**
   * Ends a session.
   *
   * @param which its id, or the token in its cookie
   * @returns where the browser goes to sign out at the provider too; null when it need not
   */
  async end(which: { id: string } | { token: string }): Promise<string | null> {
    const where = 'id' in which ? which : { tokenSha256: hashSecret(which.token) };
    const session = await this.#database.prisma.session.findUnique({ where });
    if (!session) return null;
    const { id, personId: actorId } = session;
    await actAs({ actorKind: 'person', actorId, credentialId: id }, () =>
      this.#database.transact(audited((transaction, audit) => endOwnSession(transaction, audit, session, id))),
    );
    return this.urlAtProvider(session).catch(() => null);
  }

  /** Returns where a session's browser goes to sign out at the provider too; null when it need not. */
  async urlAtProvider(session: {
    ssoProviderId: string | null;
    providerSubject: string | null;
    encryptedIdToken: string | null;
  }): Promise<string | null> {
    const { ssoProviderId: id, providerSubject, encryptedIdToken } = session;
    const provider = id === null ? null : await this.#database.prisma.ssoProvider.findUnique({ where: { id } });
    if (provider?.protocol !== 'oidc' || !oidcOf(provider).logoutAtProvider) return null;
    const place = idTokenPlace(provider.id, providerSubject ?? '');
    const idToken = encryptedIdToken && this.#cipher.decrypt(encryptedIdToken, place);
    return (await this.#oidc.endSessionUrl(provider, idToken))?.href ?? null;
  }
}
