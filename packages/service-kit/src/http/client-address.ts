import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Proves that the gateway has written `X-Forwarded-For`. It is sent to services of the platform, and to no deployment. */
export const ADDRESS_PROOF_HEADER = 'x-runyard-address-proof';

/** Headers by which the gateway tells a service of the platform the address of a client. */
export function clientAddressHeaders(internalToken: string, address: string): Record<string, string> {
  return { 'x-forwarded-for': address, [ADDRESS_PROOF_HEADER]: proofOf(internalToken, address) };
}

/**
 * Removes the address of a client that somebody else than the gateway names: code of deployments reaches services, too,
 * and limits of attempts count addresses.
 */
export function dropUnprovenAddress(headers: IncomingHttpHeaders, internalToken: string): void {
  const { 'x-forwarded-for': address, [ADDRESS_PROOF_HEADER]: given } = headers;
  delete headers[ADDRESS_PROOF_HEADER];
  if (address === undefined) return;
  const proof = Buffer.from(proofOf(internalToken, String(address)));
  const claimed = Buffer.from(String(given ?? ''));
  if (claimed.length !== proof.length || !timingSafeEqual(claimed, proof)) delete headers['x-forwarded-for'];
}

function proofOf(internalToken: string, address: string): string {
  return createHmac('sha256', internalToken).update(`client address ${address}`).digest('base64url');
}
