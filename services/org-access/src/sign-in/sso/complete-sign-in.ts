import type { Cipher } from '@runyard/encryption';
import { changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { SsoProvider } from '../../generated/client.ts';
import { openSession } from '../sessions/open-session.ts';
import type { SsoSignInService } from '../sso-sign-in.ts';
import type { PersonClaims } from './claims.ts';
import { readGroupRoles, syncGroupRoles } from './group-sync.ts';
import { SignInRefusedError } from './sign-in-refusal.ts';

/** An answer of an identity provider, after it was verified. */
export interface VerifiedAnswer {
  provider: SsoProvider;
  issuer: string;
  claims: PersonClaims;
  /** `sub` or NameID as the provider will send it when the session ends there. */
  providerSubject: string;
  /** `sid` or SessionIndex. */
  providerSessionId: string | null;
  /** The hint for signing out at the provider. */
  idToken: string | null;
}

/** Returns the place of a session's ID token for encryption. */
export function idTokenPlace(providerId: string, subject: string): string {
  return `session/${providerId}/${subject}/id_token`;
}

/** Ends sign-ins: from a verified answer to a session. */
export class SignInCompletion {
  readonly #database: Database;
  readonly #cipher: Cipher;
  readonly #signIn: SsoSignInService;
  readonly #sessionSeconds: number;

  constructor(options: { database: Database; cipher: Cipher; signIn: SsoSignInService; sessionSeconds: number }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
    this.#signIn = options.signIn;
    this.#sessionSeconds = options.sessionSeconds;
  }

  /**
   * Signs a person in, and opens the session in the transaction of the decision.
   *
   * @throws SignInRefusedError
   */
  async complete(answer: VerifiedAnswer, userAgent: string | null): Promise<{ token: string; maxAgeSeconds: number }> {
    const { provider, issuer, claims } = answer;
    if (claims.subject === null) throw new SignInRefusedError('answer_invalid');
    if (claims.email === null || !claims.email.includes('@')) throw new SignInRefusedError('email_missing');
    const roles = provider.groupsEnabled
      ? await readGroupRoles(this.#database.prisma, provider.organizationId, claims.groups)
      : [];
    const result = await this.#signIn.signIn(
      {
        provider,
        issuer,
        subject: claims.subject,
        email: claims.email,
        fullName: claims.fullName,
        isWithoutRequiredGroup: provider.groupsEnabled && provider.groupsRequired && roles.length === 0,
      },
      async (transaction, audit, { personId, loginId, identityId, isNew }) => {
        if (followsGroups(provider, isNew)) await syncGroupRoles(transaction, audit, provider, identityId, roles);
        return openSession(transaction, {
          personId,
          loginId,
          expiresAt: new Date(Date.now() + this.#sessionSeconds * 1000),
          address: changeOrigin().address,
          userAgent: userAgent?.slice(0, 500) ?? null,
          sso: {
            organizationId: provider.organizationId,
            providerId: provider.id,
            sessionId: answer.providerSessionId,
            subject: answer.providerSubject,
            encryptedIdToken: answer.idToken && this.#encryptIdToken(answer, answer.idToken),
          },
        });
      },
    );
    if (result.decision.outcome === 'denied') throw new SignInRefusedError(result.decision.reason);
    if (!('admission' in result)) throw new SignInRefusedError('not_a_member');
    return { token: result.admission.token, maxAgeSeconds: this.#sessionSeconds };
  }

  #encryptIdToken({ provider, providerSubject }: VerifiedAnswer, idToken: string): string {
    return this.#cipher.encrypt(idToken, idTokenPlace(provider.id, providerSubject));
  }
}

function followsGroups({ groupsEnabled, groupsRoleSyncEnabled }: SsoProvider, isNew: boolean): boolean {
  return groupsEnabled && (groupsRoleSyncEnabled || isNew);
}
