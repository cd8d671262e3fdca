import type { RequestListener, ServerResponse } from 'node:http';
import { HANDOFF_HEADER, isMountPrefix, MOUNT_PREFIX_HEADER } from '@runyard/contracts';
import type { RequestHandler } from '@runyard/service-kit';

/** Paths that are served without the prefix too: probes and scrapers do not know it. */
const UNMOUNTED: ReadonlySet<string> = new Set(['/ok', '/metrics']);
const FORWARDED_PREFIX = 'x-forwarded-prefix';

/**
 * Serves everything below a path: the server and the project's app see the rest of the path, and the prefix is added to
 * the one that a proxy in front says it took off. Anything outside is a 404. `/ok` without the prefix reports it in a
 * header: whoever runs the deployment learns from it where its keyless paths are.
 *
 * A `Location` or `Content-Location` is relative to the URL that clients call the deployment by, which ends in the
 * prefix: the SDKs append one to the other. So it leaves out the prefix, as it leaves out the path that the gateway
 * takes off.
 */
export function serveBelow(prefix: string | undefined, inner: RequestListener): RequestListener {
  if (prefix === undefined) return inner;
  const isReported = isMountPrefix(prefix);
  return (req, res) => {
    const url = req.url ?? '/';
    const [path] = url.split('?', 1);
    const rest = urlBelow(prefix, url);
    if (rest !== null) {
      req.url = rest;
      req.headers[FORWARDED_PREFIX] = `${req.headers[FORWARDED_PREFIX] ?? ''}${prefix}`;
    } else if (!UNMOUNTED.has(path as string)) {
      const body = '{"detail":"Not Found"}';
      res.writeHead(404, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
      return;
    } else if (path === '/ok' && isReported) {
      res.setHeader(MOUNT_PREFIX_HEADER, prefix);
    }
    inner(req, res);
  };
}

/** Returns the rest of a URL below the prefix; null for one outside. */
export function urlBelow(prefix: string | undefined, url: string): string | null {
  if (prefix === undefined) return url;
  if (url !== prefix && !url.startsWith(`${prefix}/`) && !url.startsWith(`${prefix}?`)) return null;
  const rest = url.slice(prefix.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Puts the prefix before the path of a continuation: the gateway requests it from the server by the path from its root.
 */
export function prefixContinuation(prefix: string | undefined): RequestHandler {
  return (_req, res, next) => {
    if (prefix !== undefined) prefixContinuationTrailer(res, prefix);
    next();
  };
}

function prefixContinuationTrailer(res: ServerResponse, prefix: string): void {
  const addTrailers = res.addTrailers.bind(res);
  res.addTrailers = (trailers) => {
    const { [HANDOFF_HEADER]: path, ...others } = trailers as Record<string, string>;
    addTrailers(path === undefined ? others : { [HANDOFF_HEADER]: prefix + path, ...others });
  };
}
