import type { IncomingHttpHeaders } from 'node:http';

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const PREFIX = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/;

/**
 * Returns the address by which the client reached the server: through the gateway or directly. A client says so itself,
 * and what it says is an origin and a path, or counts for nothing: no path that is added to it becomes another.
 */
export function requestBaseUrl(headers: IncomingHttpHeaders): string {
  const protocol = first(headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? '';
  const prefix = first(headers['x-forwarded-prefix']) ?? '';
  return `${protocol}://${HOST.test(host) ? host : 'localhost'}${PREFIX.test(prefix) ? prefix : ''}`;
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}
