import type { IncomingMessage } from 'node:http';
import { toUnavailableError } from '@runyard/database';
import { ForbiddenError, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { ListenerKeys } from './listener-keys.ts';

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * Authenticates listener keys, each only on paths below its own listener. All other requests are passed to `others`.
 */
export function acceptListenerKeys(keys: ListenerKeys, others: PrincipalVerifier): PrincipalVerifier {
  return {
    async authenticate(request) {
      const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
      if (key === undefined || !ListenerKeys.isKey(key)) return others.authenticate(request);
      const owner = await keys.ownerOf(key).catch((error: unknown) => {
        throw toUnavailableError(error) ?? error;
      });
      if (!owner) throw new UnauthorizedError('Invalid listener key', { code: 'listener_key_invalid' });
      const { listenerId, organizationId, workspaceId } = owner;
      if (!isBelow(request, listenerId))
        throw new ForbiddenError('This key is good for the data plane of its listener alone', {
          code: 'listener_key_out_of_place',
        });
      return {
        kind: 'service_key',
        identity: listenerId,
        organizationId,
        workspaceId,
        permissions: ['listener:speak'],
      };
    },
  };
}

function isBelow({ url = '' }: IncomingMessage, listenerId: string): boolean {
  return url.toLowerCase().startsWith(`/v2/listeners/${listenerId}/`);
}
