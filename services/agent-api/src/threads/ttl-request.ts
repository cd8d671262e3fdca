import type { ThreadTtl as RequestedTtl } from '@runyard/contracts';
import type { ThreadTtl } from '@runyard/run-engine';
import { UnprocessableError } from '@runyard/service-kit';

/**
 * Returns the ttl that a client asks for. Without minutes it takes those of the deployment's default.
 * @throws UnprocessableError when there are none
 */
export function requestedTtl(ttl: RequestedTtl | undefined, byDefault: ThreadTtl | undefined): ThreadTtl | undefined {
  if (ttl === undefined) return undefined;
  const minutes = ttl.ttl ?? byDefault?.minutes;
  if (minutes === undefined) throw new UnprocessableError('ttl.ttl is required: the deployment has no default');
  return { strategy: ttl.strategy ?? 'delete', minutes };
}
