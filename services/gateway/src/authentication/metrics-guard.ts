import { timingSafeEqual } from 'node:crypto';
import { INTERNAL, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { credentialsOf } from './credentials.ts';

/**
 * Restricts the gateway's metrics to holders of the internal token. They are about all tenants, and the gateway is
 * reached from outside, so that no key of a tenant is enough.
 */
export function createMetricsGuard(internalToken: string): PrincipalVerifier {
  return {
    async authenticate(req) {
      const { bearer } = credentialsOf(req.headers);
      if (bearer === undefined)
        throw new UnauthorizedError('Missing authentication headers', { code: 'credentials_missing' });
      if (!isSame(bearer, internalToken)) throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
      return INTERNAL;
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
