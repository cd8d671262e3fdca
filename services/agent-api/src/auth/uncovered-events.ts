import type { Logger } from '@runyard/service-kit';
import { AUTH_EVENTS, type AuthEvent, handlerNamesOf } from './auth-events.ts';

/**
 * Returns the events that no handler decides about. None count for a project without any `on` handler: its users may do
 * everything, and nobody forgot one.
 *
 * @param handlers the names of the handlers
 */
export function uncoveredEvents(handlers: ReadonlySet<string>): AuthEvent[] {
  if (handlers.size === 0) return [];
  return AUTH_EVENTS.filter((event) => !handlerNamesOf(event).some((name) => handlers.has(name)));
}

/** Warns the project's author about events that are allowed to every user because no handler decides about them. */
export function reportUncoveredEvents(handlers: ReadonlySet<string>, logger: Pick<Logger, 'warn'>): void {
  const events = uncoveredEvents(handlers);
  if (events.length === 0) return;
  const denyTheRest = "auth.on('*', () => false)";
  logger.warn('auth events without a handler are allowed to every user', { events, denyTheRest });
}
