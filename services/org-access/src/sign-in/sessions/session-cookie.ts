import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readCookie, SESSION_COOKIE, SESSION_TOKEN_PREFIX, sessionCookieName } from '@runyard/contracts';

/** A request that the gateway passed on: its forwarding headers are the gateway's. */
type ForwardedRequest = { headers: IncomingHttpHeaders };

/**
 * Returns the value of `Set-Cookie` that signs a browser in. `Secure` is left out on plain HTTP to a loopback address
 * alone.
 *
 * @param maxAgeSeconds the rest of the session's life; without it, the cookie ends with the browser
 */
export function sessionCookie(token: string, request: ForwardedRequest, maxAgeSeconds?: number): string {
  const name = cookieNameOf(request);
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (name === SESSION_COOKIE) attributes.push('Secure');
  if (maxAgeSeconds !== undefined) attributes.push(`Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}`);
  return [`${name}=${token}`, ...attributes].join('; ');
}

/** Returns the value of `Set-Cookie` that makes a browser forget its session. */
export function clearedSessionCookie(request: ForwardedRequest): string {
  return sessionCookie('', request, 0);
}

/** Returns the token in the session's cookie; undefined without one. */
export function sessionTokenIn(request: ForwardedRequest): string | undefined {
  const token = readCookie(request.headers.cookie, cookieNameOf(request));
  return token?.startsWith(SESSION_TOKEN_PREFIX) ? token : undefined;
}

/**
 * Returns the token that forms of a signed-in person carry: derived from the session's, which scripts and other sites
 * cannot read.
 */
export function csrfTokenOf(sessionToken: string): string {
  return createHash('sha256').update(`csrf ${sessionToken}`).digest('base64url');
}

export function isCsrfTokenOf(sessionToken: string, text: string): boolean {
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  const given = Buffer.from(text);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Returns the cookie's name at the address that the browser asked, which the gateway tells. */
function cookieNameOf({ headers }: ForwardedRequest): string {
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? '';
  return sessionCookieName({ protocol: first(headers['x-forwarded-proto']) ?? 'http', host });
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
