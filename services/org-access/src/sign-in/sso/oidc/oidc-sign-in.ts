import * as client from 'openid-client';
import type { SsoProvider } from '../../../generated/client.ts';
import { readClaims } from '../claims.ts';
import type { VerifiedAnswer } from '../complete-sign-in.ts';
import type { PendingSignIns } from '../pending-sign-ins.ts';
import { SignInRefusedError } from '../sign-in-refusal.ts';
import type { OidcClient, OidcVisit } from './oidc-client.ts';
import { type SubjectClaims, subjectClaimOf } from './subject-claim.ts';

/** Sign-in by OpenID Connect: to the provider and back. */
export class OidcSignIn {
  readonly #client: OidcClient;
  readonly #pending: PendingSignIns;
  readonly #subjectClaims: SubjectClaims;

  constructor(options: { client: OidcClient; pending: PendingSignIns; subjectClaims: SubjectClaims }) {
    this.#client = options.client;
    this.#pending = options.pending;
    this.#subjectClaims = options.subjectClaims;
  }

  /** Returns where the browser goes. @throws SignInRefusedError */
  async begin(provider: SsoProvider, browser: string, returnTo: string): Promise<string> {
    const visit: OidcVisit = { nonce: client.randomNonce(), codeVerifier: client.randomPKCECodeVerifier() };
    const state = await this.#pending.begin({ providerId: provider.id, browser, returnTo, facts: visit });
    return (await this.#client.authorizationUrl(provider, visit, state)).href;
  }

  /**
   * Reads the answer that a browser brings.
   *
   * @param address the provider whose own address the answer came to; null: it came to the shared one
   * @throws SignInRefusedError
   */
  async end(
    query: URLSearchParams,
    browser: string,
    address: string | null,
  ): Promise<{ answer: VerifiedAnswer; returnTo: string }> {
    const { provider, facts, returnTo } = await this.#pending.end<OidcVisit>(query.get('state') ?? '', browser);
    if (provider.protocol !== 'oidc') throw new SignInRefusedError('answer_invalid');
    // A provider may have forwarded the browser to another one, whose code it must not get (RFC 9700, 4.4).
    if (address !== (provider.hasOwnCallback ? provider.id : null)) throw new SignInRefusedError('answer_invalid');
    const { claims, idToken } = await this.#client.exchange(provider, query, facts);
    if (!isEmailVerified(claims, provider)) throw new SignInRefusedError('email_unverified');
    const issuer = String(claims.iss);
    const person = readClaims(claims, provider);
    const hasOwnSubject = 'sub' in ((provider.attributeMapping as { keys?: object }).keys ?? {});
    const subject = hasOwnSubject ? person.subject : textOf(claims[subjectClaimOf(issuer, this.#subjectClaims)]);
    const answer: VerifiedAnswer = {
      provider,
      issuer,
      claims: { ...person, subject },
      providerSubject: String(claims.sub),
      providerSessionId: textOf(claims.sid),
      idToken,
    };
    return { answer, returnTo };
  }
}

/** A provider without the claim must be trusted by the organization; one that denies it is never believed. */
function isEmailVerified(claims: Record<string, unknown>, { isEmailTrusted }: SsoProvider): boolean {
  const { email_verified: verified } = claims;
  if (verified === true || verified === 'true') return true;
  return isEmailTrusted && verified === undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
