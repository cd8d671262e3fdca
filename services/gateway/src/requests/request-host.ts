import type { IncomingMessage } from 'node:http';
import { BadRequestError, isHost } from '@runyard/service-kit';

/** Returns the host that the client requested, with its port, as it wrote them. */
export function requestedHost(req: IncomingMessage, trustForwarded: boolean): string | undefined {
  return (trustForwarded && firstValue(req.headers['x-forwarded-host'])) || req.headers.host;
}

/**
 * Refuses a host that is no name or address with a port, and a second one (RFC 9112, 3.2): what receives the request
 * puts it into addresses, in which the rest would become a path.
 *
 * @throws BadRequestError
 */
export function checkHost(req: IncomingMessage, trustForwarded: boolean): void {
  const hosts = req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw new BadRequestError('There is more than one Host header');
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
