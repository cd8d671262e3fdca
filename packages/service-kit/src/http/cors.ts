import type { IncomingMessage, ServerResponse } from 'node:http';

const METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY';
const PREFLIGHT_MAX_AGE_SECONDS = '600';

/** Any page may call, without cookies: callers are known by the headers they send. */
export function allowAnyOrigin(res: ServerResponse): void {
  res.setHeader('access-control-allow-origin', '*');
  res.setHeader(
    'access-control-expose-headers',
    'x-pagination-total, x-pagination-next, content-location, x-request-id',
  );
}

export function isPreflight(req: IncomingMessage): boolean {
  return req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;
}

export function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  allowAnyOrigin(res);
  res.setHeader('access-control-allow-methods', METHODS);
  res.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS);
  res.setHeader('vary', 'access-control-request-headers');
  const asked = req.headers['access-control-request-headers'];
  if (asked) res.setHeader('access-control-allow-headers', asked);
  if (req.headers['access-control-request-private-network'] === 'true') {
    res.setHeader('access-control-allow-private-network', 'true');
  }
  res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': 2 }).end('OK');
}
