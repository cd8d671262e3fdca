import type { IncomingHttpHeaders } from 'node:http';

/** Returns the address by which the client reached the server: through the gateway or directly. */
export function requestBaseUrl(headers: IncomingHttpHeaders): string {
  const protocol = first(headers['x-forwarded-proto']) ?? 'http';
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? 'localhost';
  const prefix = first(headers['x-forwarded-prefix']) ?? '';
  return `${protocol}://${host}${prefix}`;
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}
