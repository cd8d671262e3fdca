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
  if (provenAddress(headers, internalToken) === undefined) delete headers['x-forwarded-for'];
  delete headers[ADDRESS_PROOF_HEADER];
}

/**
 * Returns the address of the client that a request names with the proof of this platform; undefined without one. The proof
 * is good for ever and for one address: it must go to services of the platform alone.
 */
export function provenAddress(headers: IncomingHttpHeaders, internalToken: string): string | undefined {
  const { 'x-forwarded-for': address, [ADDRESS_PROOF_HEADER]: given } = headers;
  if (address === undefined || given === undefined) return undefined;
  const proof = Buffer.from(proofOf(internalToken, String(address)));
  const claimed = Buffer.from(String(given));
  return claimed.length === proof.length && timingSafeEqual(claimed, proof) ? String(address) : undefined;
}

function proofOf(internalToken: string, address: string): string {
  return createHmac('sha256', internalToken).update(`client address ${address}`).digest('base64url');
}
