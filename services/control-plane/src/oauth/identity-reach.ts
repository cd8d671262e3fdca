import { INTERNAL_AUTHORIZATION_SCHEME, type ReachRequest, ReachResponse, validatorOf } from '@runyard/contracts';
import { UnavailableError } from '@runyard/service-kit';

/** org-access answers within milliseconds or not at all. */
const TIMEOUT_MS = 3_000;
const validateResponse = validatorOf(ReachResponse);

/** Asks org-access about the owners of tokens, because tokens outlive their owners' keys. */
export class IdentityReach {
  readonly #url: string;
  readonly #token: string;

  constructor(options: { orgAccessUrl: string; internalToken: string }) {
    this.#url = `${options.orgAccessUrl.replace(/\/+$/, '')}/internal/identities/reach`;
    this.#token = options.internalToken;
  }

  /** @throws UnavailableError when org-access cannot be reached: then no token is returned */
  reaches(question: Required<ReachRequest>): Promise<boolean> {
    return this.#request(question);
  }

  /**
   * Returns whether the identity still belongs to its organization.
   *
   * @throws UnavailableError when org-access cannot be reached
   */
  exists(question: Omit<ReachRequest, 'workspace_id'>): Promise<boolean> {
    return this.#request(question);
  }

  async #request(question: ReachRequest): Promise<boolean> {
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(question),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const answer = validateResponse(await response.json());
      if (!response.ok || !answer.ok) throw new Error(`org-access answers ${response.status}`);
      return answer.value.reaches;
    } catch (cause) {
      throw new UnavailableError('Whether the owner of a connected token is still there cannot be asked.', {
        code: 'token_owner_check_unavailable',
        cause,
      });
    }
  }
}
