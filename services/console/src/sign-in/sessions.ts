import { type InternalClient, orUnavailable, UnauthorizedError, UnavailableError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';
import { sessionDigest } from './session-digest.ts';

/** A token with which the gateway is asked as the person of a session. */
interface AccessToken {
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The most browsers whose access tokens are remembered. */
const REMEMBERED = 10_000;
/** A token is replaced so long before its end, so that none ends on its way. */
const MARGIN_MS = 20_000;

const SAID = 'Sessions cannot be checked at the moment';
const CONTEXT = { code: 'key_check_unavailable', retryAfterSeconds: 1 } as const;

/** Swaps the session's token in the cookie for a short-lived one, which org-access makes. */
export class ConsoleSessions {
  readonly #orgAccess: InternalClient;
  readonly #tokens = new LRUCache<string, Promise<AccessToken>>({ max: REMEMBERED });

  constructor(orgAccess: InternalClient) {
    this.#orgAccess = orgAccess;
  }

  /** Opens a session for a code with which a browser came back. @throws UnauthorizedError, UnavailableError */
  async open(code: string, verifier: string): Promise<{ token: string; expiresAt: Date }> {
    const { status, body } = await this.#ask('/internal/console/sessions', { code, code_verifier: verifier });
    const { token, expires_at: expiresAt } = body as { token?: string; expires_at?: string };
    if (status === 200 && token && expiresAt) return { token, expiresAt: new Date(expiresAt) };
    if (status === 400 || status === 422)
      throw new UnauthorizedError('The sign-in took too long, or was used before: sign in again', {
        code: 'session_invalid',
      });
    throw unavailable(status);
  }

  /**
   * Returns an access token of a session. Requests that come together share one.
   *
   * @throws UnauthorizedError when the session has ended, UnavailableError
   */
  async accessToken(session: string): Promise<string> {
    const key = sessionDigest(session);
    const known = this.#tokens.get(key);
    const remembered = await known?.catch(() => undefined);
    if (remembered && remembered.expiresAt - MARGIN_MS > Date.now()) return remembered.token;
    // Another caller may have asked meanwhile.
    const current = this.#tokens.get(key);
    if (current && current !== known) return (await current).token;
    const asking = this.#issue(session);
    this.#tokens.set(key, asking);
    asking.catch(() => this.#tokens.delete(key));
    return (await asking).token;
  }

  /** Forgets the access token of a session, which the gateway has refused. */
  forget(session: string): void {
    this.#tokens.delete(sessionDigest(session));
  }

  /** Ends a session. @returns where the browser signs out at its identity provider; null where it need not */
  async end(session: string): Promise<string | null> {
    this.forget(session);
    const { status, body } = await this.#ask('/internal/console/sessions/end', { token: session });
    if (status !== 200) throw unavailable(status);
    return (body as { logout_url?: string | null }).logout_url ?? null;
  }

  async #issue(session: string): Promise<AccessToken> {
    const askedAt = Date.now();
    const { status, body } = await this.#ask('/internal/console/access-tokens', { token: session });
    const { access_token: token, expires_in: seconds } = body as { access_token?: string; expires_in?: number };
    if (status === 200 && token && seconds) return { token, expiresAt: askedAt + seconds * 1_000 };
    if (status === 401) throw new UnauthorizedError('The session has ended: sign in again', { code: 'session_ended' });
    throw unavailable(status);
  }

  async #ask(path: string, question: object): Promise<{ status: number; body: unknown }> {
    return orUnavailable(this.#orgAccess.request(path, question), SAID, CONTEXT);
  }
}

/** @param status of org-access, which nobody has foreseen */
function unavailable(status: number): UnavailableError {
  return new UnavailableError(SAID, { ...CONTEXT, internal: { status } });
}
