import { timingSafeEqual } from 'node:crypto';
import { INTERNAL, type PrincipalVerifier, toPrincipal, UnauthorizedError } from '@runyard/service-kit';
import { credentialsOf } from './credentials.ts';
import type { GuessGuard } from './guess-guard.ts';

/**
 * Restricts the gateway's metrics to key holders and holders of the internal token, because it is reached from outside.
 */
export function createMetricsGuard(guard: GuessGuard, internalToken: string): PrincipalVerifier {
  return {
    async authenticate(req) {
      const { apiKey, bearer } = credentialsOf(req.headers);
      const key = apiKey ?? bearer;
      if (key === undefined)
        throw new UnauthorizedError('Missing authentication headers', { code: 'credentials_missing' });
      if (isSame(key, internalToken)) return INTERNAL;
      const answer = await guard.checkerFor(req)({ key, audience: 'gateway' });
      if (answer.kind !== 'good') throw new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
      return toPrincipal(answer.claims);
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
