import type { RequestListener, ServerResponse } from 'node:http';
import { HANDOVER_HEADER } from '@runyard/contracts';
import type { RequestHandler } from '@runyard/service-kit';

/** Served without the prefix too: probes and scrapers know nothing of it. */
const UNMOUNTED: ReadonlySet<string> = new Set(['/ok', '/metrics']);
const LOCATIONS = ['location', 'content-location', HANDOVER_HEADER];
const FORWARDED_PREFIX = 'x-forwarded-prefix';

/**
 * Serves everything below a path: the rest of the path is what the server and the project's app see, and it is added to
 * the prefix that a proxy in front says it took off. Anything outside is a 404.
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

/** Puts the prefix before the paths that answers name, so that each of them is served. */
export function locatedBelow(prefix: string | undefined): RequestHandler {
  return (_req, res, next) => {
    if (prefix !== undefined) prefixLocations(res, prefix);
    next();
  };
}

function prefixLocations(res: ServerResponse, prefix: string): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = ((...args: unknown[]) => {
    const headers = args.at(-1);
    if (typeof headers === 'object' && headers !== null && !Array.isArray(headers)) {
      args[args.length - 1] = withPrefix(headers as Record<string, unknown>, prefix);
    }
    return writeHead(...args);
  }) as typeof res.writeHead;
  const addTrailers = res.addTrailers.bind(res);
  res.addTrailers = (trailers) =>
    addTrailers(withPrefix(trailers as Record<string, unknown>, prefix) as typeof trailers);
}

function withPrefix(headers: Record<string, unknown>, prefix: string): Record<string, unknown> {
  const located = { ...headers };
  for (const name of LOCATIONS) {
    const path = located[name];
    if (typeof path === 'string' && path.startsWith('/')) located[name] = prefix + path;
  }
  return located;
}
