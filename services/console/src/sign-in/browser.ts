import type { IncomingHttpHeaders } from 'node:http';
import { ForbiddenError } from '@runyard/service-kit';

/** The part of a request that says which page asked for it. */
export interface BrowserRequest {
  method: string;
  headers: IncomingHttpHeaders;
}

const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Requires that a script of the console's own pages asked for a request: browsers add the cookie by themselves, whoever
 * asked. A page that is opened, and a file that a page of another site loads, are no such request: what a project answers
 * would be shown with the console's origin.
 *
 * @param origin of the console
 * @throws ForbiddenError
 */
export function requireOwnScript({ method, headers }: BrowserRequest, origin: string): void {
  const { origin: from, 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers;
  const isOwn = site === 'same-origin' && (destination === undefined || destination === 'empty');
  // Scripts send Origin with everything that may change something.
  const isFromHere = from === undefined ? WITHOUT_EFFECT.has(method) : from === origin;
  if (isOwn && isFromHere) return;
  throw new ForbiddenError('Only pages of the console may ask for this', { code: 'cross_site_request' });
}
