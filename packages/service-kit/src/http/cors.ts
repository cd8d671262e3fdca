import type { IncomingMessage, ServerResponse } from 'node:http';
import { REPLAYED_HEADER } from '@runyard/contracts';

/** The pages of other origins that may call, and what they may send and read. */
export interface CorsRules {
  /** Allowed origins; `*` stands for every origin. */
  origins: readonly string[];
  /** Matches other allowed origins; it must match the whole origin. */
  originPattern?: RegExp;
  /** Allowed methods; `*` stands for all. */
  methods: readonly string[];
  /** Request headers; `*` stands for all. */
  headers: readonly string[];
  /** True when cookies may be sent. They never are for an origin that only `*` allows. */
  credentials: boolean;
  /** Response headers that pages may read, in addition to those of this server. */
  exposed: readonly string[];
  /** Seconds for which a browser may cache the answer to a preflight. */
  maxAgeSeconds: number;
}

/** Allows every page to call without cookies: headers identify the caller. */
export const ANY_ORIGIN: CorsRules = {
  origins: ['*'],
  methods: ['*'],
  headers: ['*'],
  credentials: false,
  exposed: [],
  maxAgeSeconds: 600,
};

const METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY';
/** Without `location`, SDKs in pages cannot resume a stream whose connection was lost. */
const EXPOSED = [
  'x-pagination-total',
  'x-pagination-next',
  'content-location',
  'location',
  'x-request-id',
  'retry-after',
  'www-authenticate',
  'ratelimit',
  'ratelimit-policy',
  REPLAYED_HEADER,
];

/** Lets any page read an answer. */
export function allowAnyOrigin(res: ServerResponse): void {
  allowOrigin(undefined, res, ANY_ORIGIN);
}

/** Sets the headers that let the page of this request read the answer, if it may. */
export function applyCors(req: IncomingMessage, res: ServerResponse, rules: CorsRules): void {
  allowOrigin(req.headers.origin, res, rules);
}

export function isPreflight(req: IncomingMessage): boolean {
  return req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;
}

export function answerPreflight(req: IncomingMessage, res: ServerResponse, rules: CorsRules = ANY_ORIGIN): void {
  if (!allowOrigin(req.headers.origin, res, rules)) {
    const body = JSON.stringify({ detail: 'Disallowed CORS origin' });
    res.writeHead(400, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
    return;
  }
  res.setHeader('access-control-allow-methods', rules.methods.includes('*') ? METHODS : rules.methods.join(', '));
  res.setHeader('access-control-max-age', String(rules.maxAgeSeconds));
  res.appendHeader('vary', 'access-control-request-headers');
  const asked = req.headers['access-control-request-headers'];
  const allowed = rules.headers.includes('*') ? asked : rules.headers.join(', ');
  if (allowed) res.setHeader('access-control-allow-headers', allowed);
  if (req.headers['access-control-request-private-network'] === 'true') {
    res.setHeader('access-control-allow-private-network', 'true');
  }
  res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': 2 }).end('OK');
}

/** Returns whether the rules name an origin; `*` names none. */
export function namesOrigin(
  { origins, originPattern }: Pick<CorsRules, 'origins' | 'originPattern'>,
  origin: string,
): boolean {
  return origins.includes(origin) || originPattern?.test(origin) === true;
}

/** Sets the CORS headers for the origin and returns whether it may call. */
function allowOrigin(origin: string | undefined, res: ServerResponse, rules: CorsRules): boolean {
  const { origins, credentials, exposed } = rules;
  const isNamed = origin !== undefined && namesOrigin(rules, origin);
  const isOpen = origins.includes('*');
  // The answer depends on the origin, which caches have to know.
  if (!isOpen || credentials) res.appendHeader('vary', 'origin');
  if (!isNamed && !isOpen) return false;
  const isTrusted = isNamed && credentials;
  res.setHeader('access-control-allow-origin', isOpen && !isTrusted ? '*' : (origin as string));
  if (isTrusted) res.setHeader('access-control-allow-credentials', 'true');
  res.setHeader('access-control-expose-headers', [...new Set([...EXPOSED, ...exposed])].join(', '));
  return true;
}
