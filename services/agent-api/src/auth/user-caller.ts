import { WORKSPACE_PERMISSIONS } from '@runyard/contracts';
import type { AuthUser } from '@runyard/host-protocol';
import type { RunCreator } from '@runyard/run-engine';
import type { Principal } from '@runyard/service-kit';

/** A caller for whom the project's own code decides: what it may do, its handlers say. */
export interface UserCaller extends Principal {
  user: AuthUser;
}

const PROJECT_USER = 'project_user';

/** The user that Studio acts as. Handlers know it by `isStudioUser` of the SDK. */
const STUDIO_USER: AuthUser = {
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  is_authenticated: true,
  permissions: [],
  kind: 'StudioUser',
};

/** Returns the project's user behind a caller; undefined for callers that the project does not decide about. */
export function userOf(caller: Principal): AuthUser | undefined {
  return (caller as Partial<UserCaller>).user;
}

/** Returns the caller as the creator of runs and crons. */
export function creatorOf(caller: Principal): { userId: string; user: AuthUser | undefined } {
  const user = userOf(caller);
  return { userId: user?.identity ?? caller.identity, user };
}

/**
 * Returns the caller as the event of a run names it. Callers of the platform keep its identity, also where the project
 * sees another user: all who use Studio are one to it.
 */
export function runCreatorOf({ kind, identity, keyId }: Principal): RunCreator {
  return { kind, identity, keyId };
}

/** Returns whether the project's handler says who this caller is, and not the platform. */
export function isProjectUser({ kind }: Principal): boolean {
  return kind === PROJECT_USER;
}

/** A user whom the project's handler has let in. The platform knows nothing about it. */
export function projectUser(user: AuthUser): UserCaller {
  return {
    kind: PROJECT_USER,
    identity: user.identity,
    organizationId: '',
    permissions: WORKSPACE_PERMISSIONS,
    user,
  };
}

/** Somebody of the platform who uses Studio: the permissions of its key bound it further. */
export function studioUser(caller: Principal): UserCaller {
  return { ...caller, user: STUDIO_USER };
}

/** Somebody of the platform with a key, where the project lets keys in. */
export function keyUser(caller: Principal): UserCaller {
  const { identity } = caller;
  const user = { identity, display_name: identity, is_authenticated: true, permissions: ['authenticated'] };
  return { ...caller, user };
}
