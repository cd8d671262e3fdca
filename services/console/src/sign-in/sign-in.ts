import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { localPath, ok, type Reply, redirect, UnauthorizedError } from '@runyard/service-kit';
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
  begin(returnTo: string | undefined): Reply {
    const [state, verifier] = [randomText(), randomText()];
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({ code_challenge: challenge, state });
    const cookie = this.#cookies.signIn({ state, verifier, returnTo: localPath(returnTo) ?? '/' });
    return goTo(`${this.#page}?${query}`, cookie);
  }

  /** Signs a browser in that comes back. One that has not begun here is sent to begin. @throws UnavailableError */
  async finish(req: IncomingMessage, { code, state }: { code?: string; state?: string }): Promise<Reply> {
    const begun = this.#cookies.signInOf(req.headers.cookie);
    if (!begun || !code || !state || !isSame(state, begun.state)) return this.#startAnew();
    try {
      const { token, expiresAt } = await this.#sessions.open(code, begun.verifier);
      const seconds = (expiresAt.getTime() - Date.now()) / 1_000;
      const cookies = [this.#cookies.session(token, seconds), this.#cookies.clearedSignIn()];
      return goTo(localPath(begun.returnTo) ?? '/', cookies);
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      return this.#startAnew();
    }
  }

  /** Signs a browser out, at both hosts. @throws ForbiddenError, UnavailableError */
  async end(req: IncomingMessage): Promise<Reply> {
    requireOwnScript({ method: req.method ?? '', headers: req.headers }, this.#origin);
    const session = this.#cookies.sessionIn(req.headers.cookie);
    const logoutUrl = session === undefined ? null : await this.#sessions.end(session);
    return ok({ logout_url: logoutUrl }, { 'set-cookie': this.#cookies.clearedSession() });
  }

  /** The page says that the sign-in did not work, and has a button: no browser goes round in a circle by itself. */
  #startAnew(): Reply {
    return goTo('/signed-out?reason=sign-in-failed', this.#cookies.clearedSignIn());
  }
}

function randomText(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function goTo(location: string, cookies: string | string[]): Reply {
  return redirect(location, { 'set-cookie': cookies, 'referrer-policy': 'no-referrer' });
}
