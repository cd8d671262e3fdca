import type { IncomingHttpHeaders } from 'node:http';
import { isHost } from '@runyard/service-kit';

const PATH = /^\/[\w.~!$&'()*+,;=:@%/-]*$/;

/**
 * Returns the address by which the client reached the server: through the gateway or directly. A client says so itself,
 * and what it says is an origin and a path, or counts for nothing: no path that is added to it becomes another.
 */
export function requestBaseUrl(headers: IncomingHttpHeaders): string {
  const protocol = first(headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? '';
  const prefix = first(headers['x-forwarded-prefix']) ?? '';
  return `${protocol}://${isHost(host) ? host : 'localhost'}${isPrefix(prefix) ? prefix : ''}`;
}

/** Returns whether it is a path whose segments all have a name. */
function isPrefix(text: string): boolean {
  return PATH.test(text) && !text.includes('//') && !text.endsWith('/');
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}
