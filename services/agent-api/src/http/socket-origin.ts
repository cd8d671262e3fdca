import type { IncomingHttpHeaders } from 'node:http';
import { type CorsRules, ForbiddenError, namesOrigin } from '@runyard/service-kit';
import { requestBaseUrl } from './base-url.ts';
import { isLoopbackOrigin } from './cross-origin.ts';

/**
 * Refuses websockets that a page of another origin opens with what its browser adds by itself: browsers ask nobody before
 * they open one, and let every page read it. A page cannot send a key, so that whoever sends one is a program.
 *
 * @throws ForbiddenError
 */
export function requireSocketOrigin(
  headers: IncomingHttpHeaders,
  cors: Pick<CorsRules, 'origins' | 'originPattern'>,
): void {
  const { origin } = headers;
  if (origin === undefined || isOwn(origin, headers) || isLoopbackOrigin(origin) || namesOrigin(cors, origin)) return;
  if (cors.origins.includes('*') && !hasAmbientProofAlone(headers)) return;
  throw new ForbiddenError('Pages of this origin may not open websockets: name it in `http.cors.allow_origins`', {
    code: 'websocket_origin_refused',
  });
}

/** Returns whether a page was loaded from the deployment's own host. A proxy may end TLS without saying so. */
function isOwn(origin: string, headers: IncomingHttpHeaders): boolean {
  const base = requestBaseUrl(headers);
  return URL.canParse(origin) && URL.canParse(base) && new URL(origin).host === new URL(base).host;
}

/** Returns whether a browser has added all that proves who calls: a cookie, or a password that it was told once. */
function hasAmbientProofAlone({ cookie, authorization, 'x-api-key': key }: IncomingHttpHeaders): boolean {
  const isPassword = authorization !== undefined && /^basic /i.test(authorization);
  const isKey = key !== undefined || (authorization !== undefined && !isPassword);
  return !isKey && (cookie !== undefined || isPassword);
}
