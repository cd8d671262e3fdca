import type { IncomingMessage } from 'node:http';
import { BadRequestError, isHost } from '@runyard/service-kit';

/**
 * Splits a target in absolute form (`GET http://host/path`). It names the host itself, whatever `Host` says, which a
 * proxy replaces (RFC 9112, 3.2.2). A target with a user in it is left as it is, and leads nowhere.
 */
export function splitAbsoluteTarget(req: IncomingMessage): void {
  if (req.url === undefined || req.url.startsWith('/')) return;
  const [, authority, rest = ''] = /^https?:\/\/([^/?#@]+)([/?].*)?$/i.exec(req.url) ?? [];
  if (authority === undefined) return;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = authority;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    if (req.rawHeaders[index]?.toLowerCase() === 'host') req.rawHeaders[index + 1] = authority;
  }
}

/** Returns the host that the client requested, with its port, as it wrote them. */
export function requestedHost(req: IncomingMessage, trustForwarded: boolean): string | undefined {
  return (trustForwarded && firstValue(req.headers['x-forwarded-host'])) || req.headers.host;
}

/**
 * Refuses a host that is no name or address with a port (RFC 9112, 3.2): what receives the request puts it into
 * addresses, in which the rest would become a path.
 *
 * @throws BadRequestError
 */
export function checkHost(req: IncomingMessage, trustForwarded: boolean): void {
  const host = requestedHost(req, trustForwarded);
  for (const each of [host, req.headers.host])
    if (each && !isHost(each)) throw new BadRequestError('The Host header is not a host');
}

/** Returns the first of the values that a chain of proxies has put into a header. */
export function firstValue(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}

/** Returns the name in `host:port`, in lower case and without the dot of the root; empty for IPv6 addresses. */
export function hostNameOf(authority: string): string {
  const name = authority.split(':', 1)[0]!.toLowerCase();
  if (name.startsWith('[')) return '';
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
