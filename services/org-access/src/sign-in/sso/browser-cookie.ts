import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readCookie, SESSION_COOKIE, sessionCookieName } from '@runyard/contracts';

const LIFETIME_SECONDS = 600;

/**
 * Returns the value by which a browser is known while it visits an identity provider; a new one when it has none.
 * Deployments neither see nor set cookies of the platform.
 */
export function browserOf(request: { headers: IncomingHttpHeaders }): string {
  return knownBrowserOf(request) ?? randomBytes(32).toString('base64url');
}

export function knownBrowserOf(request: { headers: IncomingHttpHeaders }): string | undefined {
  const value = readCookie(request.headers.cookie, nameIn(request));
  return value === '' ? undefined : value;
}

/** Returns the value of `Set-Cookie`. */
export function browserCookie(browser: string, request: { headers: IncomingHttpHeaders }): string {
  const name = nameIn(request);
  const secure = name.startsWith('__Host-') ? '; Secure' : '';
  return `${name}=${browser}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${LIFETIME_SECONDS}${secure}`;
}

function nameIn({ headers }: { headers: IncomingHttpHeaders }): string {
  const protocol = String(headers['x-forwarded-proto'] ?? 'http');
  const host = String(headers['x-forwarded-host'] ?? headers.host ?? '');
  return sessionCookieName({ protocol, host }) === SESSION_COOKIE ? '__Host-runyard_sso' : 'runyard_sso';
}
