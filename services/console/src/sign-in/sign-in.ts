import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { localPath, UnauthorizedError } from '@runyard/service-kit';
import { requireOwnScript } from './browser.ts';
import type { ConsoleCookies } from './cookies.ts';
import type { ConsoleSessions } from './sessions.ts';

/** A part of a random text: 256 bits. */
const SECRET_BYTES = 32;

/**
 * Signs browsers in, which org-access does at the platform's host: a browser goes there, and comes back with a code for a
 * session of the console.
 */
export class SignIn {
  readonly #sessions: ConsoleSessions;
  readonly #cookies: ConsoleCookies;
  readonly #origin: string;
  /** The page of org-access that leads back. */
  readonly #page: string;

  /** @param options.publicUrl address of the platform for browsers */
  constructor(options: { sessions: ConsoleSessions; cookies: ConsoleCookies; origin: string; publicUrl: string }) {
    this.#sessions = options.sessions;
    this.#cookies = options.cookies;
    this.#origin = options.origin;
    this.#page = `${options.publicUrl.replace(/\/$/, '')}/auth/console`;
  }

  /** Returns whether a browser has the cookie of a session. */
  isSignedIn({ headers }: IncomingMessage): boolean {
    return this.#cookies.sessionIn(headers.cookie) !== undefined;
  }

  /** Sends a browser to where people sign in. @param returnTo the path of the console where it goes on afterwards */
  begin(res: ServerResponse, returnTo: string | undefined): void {
    const [state, verifier] = [randomText(), randomText()];
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({ code_challenge: challenge, state });
    res.setHeader('set-cookie', this.#cookies.signIn({ state, verifier, returnTo: localPath(returnTo) ?? '/' }));
    goTo(res, `${this.#page}?${query}`);
  }

  /** Signs a browser in that comes back. One that has not begun here is sent to begin. @throws UnavailableError */
  async finish(
    req: IncomingMessage,
    res: ServerResponse,
    { code, state }: { code?: string; state?: string },
  ): Promise<void> {
    const begun = this.#cookies.signInOf(req.headers.cookie);
    if (!begun || !code || !state || !isSame(state, begun.state)) {
      this.#startAnew(res);
      return;
    }
    try {
      const { token, expiresAt } = await this.#sessions.open(code, begun.verifier);
      const seconds = (expiresAt.getTime() - Date.now()) / 1_000;
      res.setHeader('set-cookie', [this.#cookies.session(token, seconds), this.#cookies.clearedSignIn()]);
      goTo(res, localPath(begun.returnTo) ?? '/');
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      this.#startAnew(res);
    }
  }

  /** Signs a browser out, at both hosts. @throws ForbiddenError, UnavailableError */
  async end(req: IncomingMessage, res: ServerResponse): Promise<void> {
    requireOwnScript({ method: req.method ?? '', headers: req.headers }, this.#origin);
    const session = this.#cookies.sessionIn(req.headers.cookie);
    const logoutUrl = session === undefined ? null : await this.#sessions.end(session);
    res.setHeader('set-cookie', this.#cookies.clearedSession());
    res.setHeader('content-type', 'application/json');
    res.setHeader('cache-control', 'no-store');
    res.end(JSON.stringify({ logout_url: logoutUrl }));
  }

  /** The page says that the sign-in did not work, and has a button: no browser goes round in a circle by itself. */
  #startAnew(res: ServerResponse): void {
    res.setHeader('set-cookie', this.#cookies.clearedSignIn());
    goTo(res, '/signed-out?reason=sign-in-failed');
  }
}

function randomText(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function goTo(res: ServerResponse, location: string): void {
  res.writeHead(303, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end();
}
