import type { IncomingHttpHeaders } from 'node:http';

/** Returns the address by which the client reached the server: through the gateway or directly. */
export function requestBaseUrl(headers: IncomingHttpHeaders): string {
  const { protocol, host, prefix } = partsOf(headers);
  return `${protocol}://${host}${prefix}`;
}

/**
 * Returns the same address for pages to load from. Over `http` the page's own protocol decides: a proxy that ends TLS
 * without saying so is reached by `https`, and a page of `https` loads nothing else, except from its own machine.
 */
export function baseUrlForPages(headers: IncomingHttpHeaders): string {
  const { protocol, host, prefix } = partsOf(headers);
  const isCertain = protocol === 'https' || /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host);
  return `${isCertain ? `${protocol}:` : ''}//${host}${prefix}`;
}

function partsOf(headers: IncomingHttpHeaders): { protocol: string; host: string; prefix: string } {
  return {
    protocol: first(headers['x-forwarded-proto']) ?? 'http',
    host: first(headers['x-forwarded-host']) ?? headers.host ?? 'localhost',
    prefix: first(headers['x-forwarded-prefix']) ?? '',
  };
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
}
