import type { Cipher } from '@runyard/encryption';
import type { Database } from '../database/database.ts';
import { hashSecret } from '../database/hash-secret.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { idTokenPlace } from './complete-sign-in.ts';
import type { OidcClient } from './oidc/oidc-client.ts';
import { oidcOf } from './provider-configuration.ts';

const LOGIN_PAGE = '/login';

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

  /** Ends a session. @returns where the browser goes: to the provider, or to the page for sign-in */
  async end(sessionToken: string): Promise<string> {
    const tokenSha256 = hashSecret(sessionToken);
    const session = await this.#database.prisma.session.findUnique({ where: { tokenSha256 } });
    if (!session) return LOGIN_PAGE;
    await this.#database.transact((transaction) => endSessions(transaction, { id: session.id }, 'signed_out'));
    return (await this.urlAtProvider(session).catch(() => null)) ?? LOGIN_PAGE;
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
