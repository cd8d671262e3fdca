import { SESSION_TOKEN_PREFIX, type VerifyKeyRequest, type VerifyKeyResponse } from '@runyard/contracts';
import { AccessTokens } from './access-tokens.ts';
import type { KeyVerifier } from './key-verifier.ts';
import type { SessionVerifier } from './session-verifier.ts';

/** Exchanges any credential of the platform for a principal token: an API key, a session's token, or an access token. */
export class CredentialVerifier {
  readonly #keys: KeyVerifier;
  readonly #sessions: SessionVerifier;

  constructor({ keys, sessions }: { keys: KeyVerifier; sessions: SessionVerifier }) {
    this.#keys = keys;
    this.#sessions = sessions;
  }

  /** @throws UnauthorizedError, ForbiddenError */
  verify(request: VerifyKeyRequest): Promise<VerifyKeyResponse> {
    const isOfSession = request.key.startsWith(SESSION_TOKEN_PREFIX) || AccessTokens.isOne(request.key);
    return isOfSession ? this.#sessions.verify(request) : this.#keys.verify(request);
  }
}
