import type { RequestListener, ServerResponse } from 'node:http';
import { HANDOVER_HEADER } from '@runyard/contracts';
import type { RequestHandler } from '@runyard/service-kit';

/** Served without the prefix too: probes and scrapers know nothing of it. */
const UNMOUNTED: ReadonlySet<string> = new Set(['/ok', '/metrics']);
const FORWARDED_PREFIX = 'x-forwarded-prefix';

/**
 * Serves everything below a path: the rest of the path is what the server and the project's app see, and it is added to
 * the prefix that a proxy in front says it took off. Anything outside is a 404.
 *
 * A `Location` or `Content-Location` is relative to the URL that clients call the deployment by, which ends in the prefix: the
 * SDKs append one to the other. So the prefix is not in it, as what the gateway takes off the path is not.
 */
export function mounted(prefix: string | undefined, inner: RequestListener): RequestListener {
  if (prefix === undefined) return inner;
  return (req, res) => {
    const url = req.url ?? '/';
    const [path] = url.split('?', 1);
    if (path === prefix || url.startsWith(`${prefix}/`) || url.startsWith(`${prefix}?`)) {
      const rest = url.slice(prefix.length);
      req.url = rest.startsWith('/') ? rest : `/${rest}`;
      req.headers[FORWARDED_PREFIX] = `${req.headers[FORWARDED_PREFIX] ?? ''}${prefix}`;
    } else if (!UNMOUNTED.has(path as string)) {
      const body = '{"detail":"Not Found"}';
      res.writeHead(404, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
      return;
    }
    inner(req, res);
  };
}

/** Puts the prefix before where the rest of an answer is found: the gateway asks a server for it by the path from its root. */
export function handedOverBelow(prefix: string | undefined): RequestHandler {
  return (_req, res, next) => {
    if (prefix !== undefined) prefixHandover(res, prefix);
    next();
  };
}

function prefixHandover(res: ServerResponse, prefix: string): void {
  const addTrailers = res.addTrailers.bind(res);
  res.addTrailers = (trailers) => {
    const { [HANDOVER_HEADER]: path, ...others } = trailers as Record<string, string>;
    addTrailers(path === undefined ? others : { [HANDOVER_HEADER]: prefix + path, ...others });
  };
}
