import type { PrincipalClaims } from '@runyard/contracts';
import { credentialIdOf, type KeyCache } from '../authentication/key-cache.ts';
import type { KeyChecker, KeyCheckRequest } from '../authentication/key-check.ts';
import type { FailureSubject, RateLimits } from './rate-limits.ts';

export interface RequestLimitParts {
  keys: KeyCache;
  limits: RateLimits;
  /** The address of the request, as rates of addresses count it. */
  address: string;
}

/**
 * Limits one request. It is counted once, whatever the answer to it is: to its caller if that turned out, else to its
 * address. What org-access refuses counts as a failure besides, and after too many failures org-access is asked only
 * about what it allowed before: failures with a credential that is known here are that credential's, so that its faults
 * hinder nobody else at its address; all others are the address's.
 */
export class RequestLimit {
  readonly #parts: RequestLimitParts;
  #claims: PrincipalClaims | undefined;
  /** The id of a known credential that did not reach what was requested. */
  #credentialId: string | undefined;
  #hasFailed = false;

  constructor(parts: RequestLimitParts) {
    this.#parts = parts;
  }

  /** @throws TooManyRequestsError */
  readonly check: KeyChecker = async (request) => {
    if (!request.isHarmless) this.#refuseAfterFailures(request);
    const answer = await this.#parts.keys.check(request);
    if (answer.kind === 'good') this.#claims = answer.claims;
    if (answer.kind === 'refused' && !request.isHarmless) this.countFailure();
    if (answer.kind === 'out_of_reach') {
      this.#credentialId = credentialIdOf(request.key);
      this.countFailure({ credentialId: this.#credentialId });
    }
    return answer;
  };

  /**
   * Counts the request, once it is known who sent it.
   *
   * @returns headers for the answer, names and values
   * @throws TooManyRequestsError
   */
  take({
    isSignIn,
  }: {
    /** True when a request without a known caller may be a sign-in. */ isSignIn: boolean;
  }): string[] {
    const { limits, address } = this.#parts;
    const isByStranger = !this.#claims && this.#credentialId === undefined;
    // A service judges credentials of sign-ins, and they are guessed as keys are.
    if (isByStranger && isSignIn && !this.#hasFailed) this.#refuseGuesses({ address });
    return limits.take({ claims: this.#claims, credentialId: this.#credentialId, address });
  }

  /** Counts a message of the websocket that the request became: see {@link RateLimits.takeMessage}. */
  readonly takeMessage = (): number => {
    const { limits, address } = this.#parts;
    return limits.takeMessage({ claims: this.#claims, credentialId: this.#credentialId, address });
  };

  /** Counts a failure to authenticate, once for each request: by default as one of the address. */
  countFailure(subject: FailureSubject = { address: this.#parts.address }): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#parts.limits.countFailure(subject);
  }

  #refuseAfterFailures(request: KeyCheckRequest): void {
    const { keys, address } = this.#parts;
    // The key that let the request in is checked again in any case: a revoked one must be found out.
    if (this.#claims?.aud === request.audience || keys.isKnownGood(request)) return;
    const credentialId = credentialIdOf(request.key);
    this.#refuseGuesses(keys.isKnown(credentialId) ? { credentialId } : { address });
  }

  #refuseGuesses(subject: FailureSubject): void {
    const refusal = this.#parts.limits.refusalOfGuesses(subject);
    if (refusal) throw refusal;
  }
}
