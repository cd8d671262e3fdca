import type { IncomingHttpHeaders } from 'node:http';

/** The credentials in a request. */
export interface RequestCredentials {
  /** `X-Api-Key`. */
  apiKey: string | undefined;
  /** The token of `Authorization: Bearer`. */
  bearer: string | undefined;
}

const BEARER = /^Bearer +(\S+) *$/i;
const PLATFORM_KEY = /^lsv2_(sk|pt)_/;

export function credentialsOf(headers: IncomingHttpHeaders): RequestCredentials {
  const apiKey = headers['x-api-key'];
  const bearer = headers.authorization === undefined ? undefined : BEARER.exec(headers.authorization)?.[1];
  return { apiKey: typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined, bearer };
}

/** Returns whether a text has the form of a platform key; only org-access knows if it is one. */
export function looksLikePlatformKey(text: string | undefined): text is string {
  return text !== undefined && PLATFORM_KEY.test(text);
}
