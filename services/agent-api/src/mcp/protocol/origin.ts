import type { IncomingMessage } from 'node:http';
import { type CorsRules, ForbiddenError, namesOrigin } from '@runyard/service-kit';
import { requestBaseUrl } from '../../http/base-url.ts';
import { isLoopbackOrigin, LOOPBACK_NAMES } from '../../http/cross-origin.ts';

const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

export interface OriginRules {
  /** Origins that the project names; `*` names none. */
  cors: Pick<CorsRules, 'origins' | 'originPattern'>;
  /** True when callers need a credential: a page that a foreign name leads here has none. */
  isProtected: boolean;
}

type OriginRequest = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Refuses pages of other origins, and requests of this machine under a foreign name, as the protocol demands: a page may
 * have its own name lead to a local server. Requests of programs have no origin. @throws ForbiddenError
 */
export function requireAllowedOrigin(req: OriginRequest, { cors, isProtected }: OriginRules): void {
  const { origin } = req.headers;
  const base = toUrl(requestBaseUrl(req.headers));
  if (isRebound(req, base)) {
    throw refusal('This host is not known: a proxy on this machine has to be in TRUSTED_PROXIES of the gateway');
  }
  if (origin === undefined) return;
  if (namesOrigin(cors, origin) || isLoopbackOrigin(origin)) return;
  if (isProtected && base !== undefined && toUrl(origin)?.origin === base.origin) return;
  throw refusal('Pages of this origin may not call: name it in `http.cors.allow_origins`');
}

/** Returns whether somebody on this machine asks for a host that is none of it. The gateway knows the hosts it routes by. */
function isRebound({ headers, socket }: OriginRequest, base: URL | undefined): boolean {
  const forwarded = headers['x-forwarded-for'];
  const addresses = forwarded === undefined ? [socket.remoteAddress ?? ''] : String(forwarded).split(',');
  if (!addresses.every((address) => LOOPBACK_ADDRESS.test(address.trim()))) return false;
  if (forwarded !== undefined && headers['x-forwarded-prefix'] === undefined) return false;
  return !base || !LOOPBACK_NAMES.has(base.hostname);
}

function refusal(message: string): ForbiddenError {
  return new ForbiddenError(message, { code: 'mcp_origin_refused' });
}

function toUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
