import type { IncomingMessage } from 'node:http';

/** The protocol and the host that the client asked. */
export interface PublicAddress {
  protocol: string;
  /** With its port. */
  host: string;
}

const SAFE: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns whether a browser sent a request for a page of this host itself, or opens a page here. Browsers add the session's
 * cookie by themselves, so it proves nothing about who asked for the request.
 */
export function isFromOwnPages(req: IncomingMessage, address: PublicAddress): boolean {
  const { 'sec-fetch-site': site, origin } = req.headers;
  const isSafe = SAFE.has(req.method);
  if (site === 'same-origin') return true;
  if (site !== undefined) return isSafe && (site === 'none' || isPageVisit(req));
  // Older browsers send Origin with whatever is not a GET, and keep SameSite=Lax cookies to themselves otherwise.
  return origin === undefined ? isSafe : isSameOrigin(origin, address);
}

/** Returns whether a link or an address bar leads here: the answer becomes a page that nobody else reads. */
function isPageVisit({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isSameOrigin(origin: string, { protocol, host }: PublicAddress): boolean {
  try {
    const { protocol: scheme, host: originHost } = new URL(origin);
    // Behind a proxy that is not trusted the protocol of the client is unknown, and seems to be http.
    const isScheme = scheme === 'https:' || (scheme === 'http:' && protocol === 'http');
    return isScheme && originHost === new URL(`${scheme}//${host}`).host;
  } catch {
    return false;
  }
}
