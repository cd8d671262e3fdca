import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { OAUTH_COOKIE, PLAIN_OAUTH_COOKIE, readCookie } from '@runyard/contracts';
import { randomSecret } from './flow-state.ts';

const SECRET = /^[\w-]{43}$/;

/**
 * The secret by which a browser is known again when it comes back from a provider. Pages of other hosts can neither read
 * nor set its cookie, and the gateway keeps it from deployments.
 */
export class BrowserCookie {
  readonly #name: string;
  readonly #attributes: string;

  /** @param publicUrl decides whether the browser talks to the platform over HTTPS */
  constructor(publicUrl: string) {
    const isSecure = new URL(publicUrl).protocol === 'https:';
    this.#name = isSecure ? OAUTH_COOKIE : PLAIN_OAUTH_COOKIE;
    // Providers send people back by a link, with which browsers send the cookie; with a form of another site they do not.
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** Returns the secret of the browser; null when it has none. */
  read({ cookie }: IncomingHttpHeaders): string | null {
    const value = readCookie(cookie, this.#name);
    return value !== undefined && SECRET.test(value) ? value : null;
  }

  /** Returns a new secret, with the header that sets it. */
  issue(): { secret: string; header: string } {
    const secret = randomSecret();
    return { secret, header: `${this.#name}=${secret}; ${this.#attributes}` };
  }
}

/** Proves that a link comes from a page that this browser was shown about the flow: nobody else can make it. */
export function proofOf(flowId: string, browser: string): string {
  return createHash('sha256').update(`start ${flowId}.${browser}`).digest('base64url');
}

export function isProofOf(flowId: string, browser: string, proof: string | undefined): boolean {
  const [given, expected] = [Buffer.from(proof ?? ''), Buffer.from(proofOf(flowId, browser))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
