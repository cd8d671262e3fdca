import type { AuthUser } from '@runyard/host-protocol';

/** Keys by which the platform shows graphs the caller of a run: graphs read them, and nobody else. */
const PRIVATE_KEY = /^(langgraph_auth_|svc_auth_)/;

/** Returns the entries of `configurable` by which graphs find the project's user. */
export function userArguments(user: AuthUser): Record<string, unknown> {
  return {
    user_id: user.identity,
    langgraph_auth_user: user,
    langgraph_auth_user_id: user.identity,
    langgraph_auth_permissions: user.permissions,
    svc_auth_user: user,
  };
}

/** Returns the entries that are not for clients. */
export function privateOf(values: object = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => PRIVATE_KEY.test(key)));
}

/** Returns the entries that clients may see. */
export function withoutPrivate(values: object = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !PRIVATE_KEY.test(key)));
}
