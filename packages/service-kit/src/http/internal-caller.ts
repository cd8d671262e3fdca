import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { INTERNAL_AUTHORIZATION_SCHEME } from '@runyard/contracts';

/** Returns whether the request comes from another service of the platform. False where no token is known. */
export function isOfPlatform({ headers }: IncomingMessage, internalToken: string | undefined): boolean {
  if (internalToken === undefined) return false;
  return equalInConstantTime(headers.authorization ?? '', `${INTERNAL_AUTHORIZATION_SCHEME} ${internalToken}`);
}

function equalInConstantTime(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
