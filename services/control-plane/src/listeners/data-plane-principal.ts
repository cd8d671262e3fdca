import { createHash, timingSafeEqual } from 'node:crypto';
import { toUnavailableError } from '@runyard/database';
import { ForbiddenError, type Principal, type PrincipalVerifier, UnauthorizedError } from '@runyard/service-kit';
import { ListenerKeys } from './listener-keys.ts';

const BEARER = /^Bearer +(\S+) *$/i;
/** The paths of one data plane. */
const PATH = /^\/v2\/listeners\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//i;

export interface DataPlaneKeys {
  ofListeners: ListenerKeys;
  /** Shared by the platform's own data planes. */
  ofPlatform: string;
}

/**
 * Authenticates data planes: those of listeners by a key of the listener, which is good below its own path alone, and the
 * platform's own by their key. All other requests are passed to `others`.
 */
export function acceptDataPlaneKeys(
  { ofListeners, ofPlatform }: DataPlaneKeys,
  others: PrincipalVerifier,
): PrincipalVerifier {
  return {
    async authenticate(request) {
      const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
      if (key === undefined) return others.authenticate(request);
      const id = PATH.exec(request.url ?? '')?.[1]?.toLowerCase();
      if (isEqual(key, ofPlatform)) return platformDataPlane(id);
      if (!ListenerKeys.isKey(key)) return others.authenticate(request);
      const owner = await ofListeners.ownerOf(key).catch((error: unknown) => {
        throw toUnavailableError(error) ?? error;
      });
      if (!owner) throw new UnauthorizedError('Invalid listener key', { code: 'listener_key_invalid' });
      const { listenerId, organizationId, workspaceId } = owner;
      if (id !== listenerId) throw outOfPlace('This key is good for the data plane of its listener alone');
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

/** @param id of the request's path; undefined: the path is no data plane's */
function platformDataPlane(id: string | undefined): Principal {
  if (id === undefined) throw outOfPlace('This key is good for what data planes ask and report alone');
  return { kind: 'data_plane', identity: id, organizationId: '', permissions: ['platform:speak'] };
}

/** Takes as long whatever the texts have in common. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function outOfPlace(detail: string): ForbiddenError {
  return new ForbiddenError(detail, { code: 'listener_key_out_of_place' });
}
