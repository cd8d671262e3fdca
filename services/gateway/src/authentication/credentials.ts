import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  ACCESS_TOKEN_TYPE,
  MCP_TOKEN_TYPE,
  readCookie,
  SESSION_TOKEN_PREFIX,
  sessionCookieName,
} from '@runyard/contracts';
import { ForbiddenError } from '@runyard/service-kit';
import { isFromOwnPages, type PublicAddress } from '../requests/same-origin.ts';

/** The credentials in a request. */
export interface RequestCredentials {
  /** `X-Api-Key`. */
  apiKey: string | undefined;
  /** The token of `Authorization: Bearer`. */
  bearer: string | undefined;
}

const BEARER = /^Bearer +(\S+) *$/i;
const PLATFORM_KEY = /^lsv2_(sk|pt)_/;
const JWT_HEADER_LENGTH_MAX = 512;

export function credentialsOf(headers: IncomingHttpHeaders): RequestCredentials {
  const apiKey = headers['x-api-key'];
  const bearer = headers.authorization === undefined ? undefined : BEARER.exec(headers.authorization)?.[1];
  return { apiKey: typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined, bearer };
}

const CREDENTIAL_HEADERS = ['x-api-key', 'authorization'];

/** Returns whether a request shows anything that could prove who calls. Clients without a key may send an empty one. */
export function hasCredentials(headers: IncomingHttpHeaders): boolean {
  return CREDENTIAL_HEADERS.some((name) => String(headers[name] ?? '').trim() !== '');
}

/** Returns whether a preflight asks for a request that will show something of the kind. */
export function asksWithCredentials({ 'access-control-request-headers': asked = '' }: IncomingHttpHeaders): boolean {
  const names = asked.toLowerCase().split(',');
  return names.some((name) => CREDENTIAL_HEADERS.includes(name.trim()));
}

/** Returns whether a text has the form of a platform key or an access token; only org-access knows if it is one. */
export function looksLikePlatformCredential(text: string | undefined): text is string {
  return text !== undefined && (PLATFORM_KEY.test(text) || looksLikeAccessToken(text));
}

/** Returns whether the header of a JWT names a type of access tokens: of the whole platform, or of one MCP server. */
export function looksLikeAccessToken(text: string): boolean {
  const type = typeOfToken(text);
  return type === ACCESS_TOKEN_TYPE || type === MCP_TOKEN_TYPE;
}

/** Returns whether the header of a JWT names the type of access tokens that are for one MCP server alone. */
export function looksLikeMcpToken(text: string): boolean {
  return typeOfToken(text) === MCP_TOKEN_TYPE;
}

function typeOfToken(text: string): unknown {
  const end = text.indexOf('.');
  if (end <= 0 || end > JWT_HEADER_LENGTH_MAX) return undefined;
  try {
    return (JSON.parse(Buffer.from(text.slice(0, end), 'base64url').toString()) as { typ?: unknown } | null)?.typ;
  } catch {
    return undefined;
  }
}

/**
 * Returns the token in the cookie of a session. A request that shows another credential is not the session's: no browser
 * adds one by itself.
 */
export function sessionTokenIn(req: IncomingMessage, address: PublicAddress): string | undefined {
  const { headers } = req;
  if (headers.cookie === undefined || headers['x-api-key'] !== undefined || headers.authorization !== undefined) {
    return undefined;
  }
  const token = readCookie(headers.cookie, sessionCookieName(address));
  return token?.startsWith(SESSION_TOKEN_PREFIX) ? token : undefined;
}

/** Requires that the browser sent the session's cookie for a page of the platform. @throws ForbiddenError */
export function requireOwnPage(req: IncomingMessage, address: PublicAddress): void {
  if (isFromOwnPages(req, address)) return;
  throw new ForbiddenError('The session counts only in requests of pages of this host', { code: 'cross_site_request' });
}
