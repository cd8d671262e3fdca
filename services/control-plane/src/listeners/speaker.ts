import type { IncomingMessage } from 'node:http';
import { outageOf } from '@runyard/database';
import { ForbiddenError, type Principal, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { type Tenant, tenantOf } from '../deployments/caller-scope.ts';
import { ListenerKeys } from './listener-keys.ts';

/** Of a caller that shows a key of a listener, and no other: it may nothing else. */
const SPEAKS = 'listener:speak';
const BEARER = /^Bearer +(\S+) *$/i;

/**
 * For whom a data plane speaks: it shows a key of its listener, or one of the workspace that may change deployments, since it
 * gets their secrets.
 *
 * @throws ForbiddenError
 */
export function speakerOf(caller: Principal): Tenant {
  const { organizationId, workspaceId, permissions } = caller;
  if (workspaceId !== undefined && permissions.includes(SPEAKS)) return { organizationId, workspaceId };
  return tenantOf(caller, 'deployments:update');
}

/** Knows the keys of listeners, each on the paths below its own listener; whoever shows none is for others to know. */
export function knowingListenerKeys(keys: ListenerKeys, others: PrincipalVerifier): PrincipalVerifier {
  return {
    async authenticate(request) {
      const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
      if (key === undefined || !ListenerKeys.isKey(key)) return others.authenticate(request);
      const owner = await keys.ownerOf(key).catch((error: unknown) => {
        throw outageOf(error) ?? error;
      });
      if (!owner) throw new UnauthorizedError('Invalid listener key');
      const { listenerId, organizationId, workspaceId } = owner;
      if (!isBelow(request, listenerId))
        throw new ForbiddenError('This key is good for the data plane of its listener alone');
      return { kind: 'service_key', identity: listenerId, organizationId, workspaceId, permissions: [SPEAKS] };
    },
  };
}

function isBelow({ url = '' }: IncomingMessage, listenerId: string): boolean {
  return url.toLowerCase().startsWith(`/v2/listeners/${listenerId}/`);
}
