/**
 * Headers for one connection, not for the other end (RFC 9110, 7.6.1), and `expect`, which the next server answers
 * itself.
 */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** @param name in lower case */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name);
}

/**
 * Returns the header that frames a body of unknown length on the next connection. For GET, HEAD, DELETE and OPTIONS
 * Node's client frames none by itself: it sends what is written as it is, and whoever receives it takes the body for the
 * next request, with any headers that its author liked.
 *
 * @param headers of the request that is passed on
 */
export function framingOf(headers: { 'transfer-encoding'?: string | undefined }): Record<string, string> {
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
}
