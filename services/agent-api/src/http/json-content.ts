import type { IncomingHttpHeaders } from 'node:http';

/** Returns whether the content of a request is JSON by what its headers say; those that say nothing may be. */
export function mayBeJson({ 'content-type': named = '' }: IncomingHttpHeaders): boolean {
  const type = named.split(';')[0]!.trim().toLowerCase();
  return type === '' || type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'));
}
