import type { Cipher } from '@runyard/encryption';
import { audited } from '../audit/audit-trail.ts';
import { actAs } from '../audit/change-origin.ts';
import type { Database } from '../database/database.ts';
import { hashSecret } from '../database/hash-secret.ts';
import type { Session } from '../generated/client.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { recordForSession } from '../sessions/record-for-session.ts';
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
    await actAs({ actorKind: 'person', actorId: session.personId, credentialId: session.id }, () =>
      this.#endRecorded(session),
    );
    return this.urlAtProvider(session).catch(() => null);
  }

  #endRecorded(session: Session): Promise<void> {
    const reason = 'signed_out';
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const ended = await endSessions(transaction, { id: session.id }, reason);
        const entry = { action: 'session.ended', resourceType: 'session', resourceId: session.id };
        if (ended > 0) await recordForSession(transaction, audit, session, { ...entry, details: { reason, ended } });
      }),
    );
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
