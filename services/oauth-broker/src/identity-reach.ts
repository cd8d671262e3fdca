import { type ReachRequest, ReachResponse } from '@runyard/contracts';
import { type InternalClient, orUnavailable } from '@runyard/service-kit';

/** Asks org-access about the owners of tokens, because tokens outlive their owners' keys. */
export class IdentityReach {
  readonly #orgAccess: InternalClient;

  constructor(orgAccess: InternalClient) {
    this.#orgAccess = orgAccess;
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
    const { reaches } = await orUnavailable(
      this.#orgAccess.ask('/internal/identities/reach', question, ReachResponse),
      'Whether the owner of a connected token is still there cannot be asked.',
      { code: 'token_owner_check_unavailable' },
    );
    return reaches;
  }
}
