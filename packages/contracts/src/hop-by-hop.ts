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
