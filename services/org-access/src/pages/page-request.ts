import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isPlainLoopback, readCookie } from '@runyard/contracts';
import { AppError, ForbiddenError } from '@runyard/service-kit';

/**
 * Requires that a person opened a page or sent a form in a window of its own, as far as the browser says so. Code of
 * projects is served at the same address: it can fetch what a page can, and must not read or send our forms.
 *
 * @throws ForbiddenError
 */
export function requireNavigation(headers: IncomingHttpHeaders, method: 'get' | 'post'): void {
  const mode = headers['sec-fetch-mode'];
  const destination = headers['sec-fetch-dest'];
  const isNavigation =
    (mode === undefined || mode === 'navigate') && (destination === undefined || destination === 'document');
  if (isNavigation && (method === 'get' || isFromHere(headers))) return;
  throw new ForbiddenError('This request does not come from our own page: open the page and try again', {
    code: 'form_from_elsewhere',
  });
}

/**
 * Requires that somebody follows a link. Browsers fetch pages ahead of that, and programs look whether there is one: a
 * link that works once must be there afterwards.
 *
 * @throws ForbiddenError which browsers do not show in place of the page
 */
export function requireFollowed({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].map((name) => String(headers[name] ?? ''));
  if (method !== 'HEAD' && !purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose))) return;
  throw new ForbiddenError('This link works once: follow it yourself', { code: 'form_from_elsewhere' });
}

/** Returns whether a form is from a page of the same host. Old browsers do not say: tokens in forms prove it then. */
function isFromHere({ origin, 'sec-fetch-site': site, ...headers }: IncomingHttpHeaders): boolean {
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return true;
  const host = [headers['x-forwarded-host'] ?? headers.host].flat()[0];
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** A cookie of the sign-in pages. Deployments neither see nor set cookies of the platform. */
class PageCookie {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the value of `Set-Cookie`. */
  set(headers: IncomingHttpHeaders, value: string, maxAgeSeconds: number): string {
    const name = this.#nameAt(headers);
    const secure = name === this.#name ? '' : '; Secure';
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}${secure}`;
  }

  /** Returns the value of `Set-Cookie` that makes a browser forget the cookie. */
  clear(headers: IncomingHttpHeaders): string {
    return this.set(headers, '', 0);
  }

  find(headers: IncomingHttpHeaders): string | undefined {
    return readCookie(headers.cookie, this.#nameAt(headers)) || undefined;
  }

  /** Returns the name at the address that the browser asked: the prefix needs HTTPS. */
  #nameAt(headers: IncomingHttpHeaders): string {
    const host = [headers['x-forwarded-host'] ?? headers.host].flat()[0] ?? '';
    const protocol = [headers['x-forwarded-proto'] ?? 'http'].flat()[0]!;
    return isPlainLoopback({ protocol, host }) ? this.#name : `__Host-${this.#name}`;
  }
}

/** The token of a sign-in that waits for its second factor. */
export const secondFactorCookie = new PageCookie('runyard_second_factor');
/** The challenge for the passkey that the browser was asked for. */
export const passkeyCookie = new PageCookie('runyard_passkey');

/** Returns what to say about an error on a page; undefined when it is none of the caller's. */
export function faultOf(error: unknown): { text: string; status: number; headers: Record<string, string> } | undefined {
  if (!(error instanceof AppError) || error.status >= 500) return undefined;
  const { detail } = error.body as { detail?: { msg?: string }[] };
  return { text: detail?.[0]?.msg ?? error.message, status: error.status, headers: error.headers };
}
