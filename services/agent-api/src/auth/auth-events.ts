import type { CustomRoutePolicy } from '../http/custom-routes.ts';

/** The events that an `Auth` object may have handlers for, as the SDK names them. */
export const AUTH_EVENTS = [
  'threads:create',
  'threads:read',
  'threads:update',
  'threads:delete',
  'threads:search',
  'threads:create_run',
  'assistants:create',
  'assistants:read',
  'assistants:update',
  'assistants:delete',
  'assistants:search',
  'crons:create',
  'crons:read',
  'crons:update',
  'crons:delete',
  'crons:search',
  'store:put',
  'store:get',
  'store:search',
  'store:list_namespaces',
  'store:delete',
] as const;

export type AuthEvent = (typeof AUTH_EVENTS)[number];

/** The event of a route of the project's own app. The SDK names none. */
export const ROUTE_EVENT = 'routes:call';

export type AskedEvent = AuthEvent | typeof ROUTE_EVENT;

/** Returns the events that are asked about. @param policy says who may call the routes of the project's own app */
export function askedEvents(policy: CustomRoutePolicy): readonly AskedEvent[] {
  return policy === 'authorized' ? [...AUTH_EVENTS, ROUTE_EVENT] : AUTH_EVENTS;
}

/** Returns the names of the handlers that may decide about an event. The most specific that exists does. */
export function handlerNamesOf(event: AskedEvent): string[] {
  const [resource, action] = event.split(':') as [string, string];
  return [event, resource, `*:${action}`, '*'];
}
