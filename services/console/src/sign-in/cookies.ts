import { consoleCookieName, consoleSignInCookieName, readCookie, SESSION_TOKEN_PREFIX } from '@runyard/contracts';

/** A sign-in that a browser has begun, kept in a cookie of it. */
export interface BegunSignIn {
  /** Comes back with the code: another browser has another one. */
  state: string;
  /** The secret of the challenge (PKCE). */
  verifier: string;
  /** The path of the console where it began. */
  returnTo: string;
}

const SIGN_IN_SECONDS = 600;
/** 32 random bytes in base64url. Anything else needs no question to org-access. */
const TOKEN = new RegExp(`^${SESSION_TOKEN_PREFIX}[\\w-]{43}$`);

/** The console's cookies at its own host, which no other one gets. */
export class ConsoleCookies {
  readonly #session: string;
  readonly #signIn: string;
  readonly #secure: string;

  /** @param url of the console */
  constructor(url: URL) {
    const address = { protocol: url.protocol.replace(':', ''), host: url.host };
    this.#session = consoleCookieName(address);
    this.#signIn = consoleSignInCookieName(address);
    this.#secure = this.#session.startsWith('__Host-') ? '; Secure' : '';
  }

  /** Returns the token in the cookie of a session; undefined without one. */
  sessionIn(header: string | undefined): string | undefined {
    const token = readCookie(header, this.#session);
    return token !== undefined && TOKEN.test(token) ? token : undefined;
  }

  /** Returns the value of `Set-Cookie` that signs a browser in. Scripts of other sites never send it. */
  session(token: string, maxAgeSeconds: number): string {
    return this.#cookie(this.#session, token, 'Strict', maxAgeSeconds);
  }

  clearedSession(): string {
    return this.#cookie(this.#session, '', 'Strict', 0);
  }

  /** Returns the sign-in that the browser has begun; undefined without one. */
  signInOf(header: string | undefined): BegunSignIn | undefined {
    const text = readCookie(header, this.#signIn);
    if (!text) return undefined;
    try {
      const value = JSON.parse(Buffer.from(text, 'base64url').toString()) as Partial<BegunSignIn> | null;
      const isWhole = [value?.state, value?.verifier, value?.returnTo].every((part) => typeof part === 'string');
      return isWhole ? (value as BegunSignIn) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the value of `Set-Cookie` for a sign-in that begins. It comes back by a link of another host, so it is `Lax`. */
  signIn(begun: BegunSignIn): string {
    const text = Buffer.from(JSON.stringify(begun)).toString('base64url');
    return this.#cookie(this.#signIn, text, 'Lax', SIGN_IN_SECONDS);
  }

  clearedSignIn(): string {
    return this.#cookie(this.#signIn, '', 'Lax', 0);
  }

  #cookie(name: string, value: string, sameSite: 'Strict' | 'Lax', maxAgeSeconds: number): string {
    const seconds = Math.max(0, Math.floor(maxAgeSeconds));
    return `${name}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}${this.#secure}`;
  }
}
