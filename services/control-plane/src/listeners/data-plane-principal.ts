import type { IncomingMessage } from 'node:http';
import { toUnavailableError } from '@runyard/database';
import { ForbiddenError, type Principal, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { type Tenant, tenantOf } from '../deployments/caller-scope.ts';
import { ListenerKeys } from './listener-keys.ts';

/** The only permission of a caller with a listener key. */
const DATA_PLANE_PERMISSION = 'listener:speak';
const BEARER = /^Bearer +(\S+) *$/i;

/**
 * Returns the workspace of a data plane. It authenticates with a key of its listener, or with a key of the workspace
 * that may change deployments, because it gets their secrets.
 *
 * @throws ForbiddenError
 */
export function requireDataPlane(caller: Principal): Tenant {
  const { organizationId, workspaceId, permissions } = caller;
  if (workspaceId !== undefined && permissions.includes(DATA_PLANE_PERMISSION)) return { organizationId, workspaceId };
  return tenantOf(caller, 'deployments:update');
}

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
        permissions: [DATA_PLANE_PERMISSION],
      };
    },
  };
}

function isBelow({ url = '' }: IncomingMessage, listenerId: string): boolean {
  return url.toLowerCase().startsWith(`/v2/listeners/${listenerId}/`);
}
