import type { Logger } from '@runyard/service-kit';
import { type AskedEvent, handlerNamesOf } from './auth-events.ts';

/**
 * Returns the events that no handler decides about. None count for a project without any `on` handler: its users may do
 * everything, and nobody forgot one.
 *
 * @param handlers the names of the handlers
 * @param events those that are asked about in this project
 */
export function uncoveredEvents(handlers: ReadonlySet<string>, events: readonly AskedEvent[]): AskedEvent[] {
  if (handlers.size === 0) return [];
  return events.filter((event) => !handlerNamesOf(event).some((name) => handlers.has(name)));
}

/** Warns the project's author about events that are allowed to every user because no handler decides about them. */
export function reportUncoveredEvents(
  handlers: ReadonlySet<string>,
  asked: readonly AskedEvent[],
  logger: Pick<Logger, 'warn'>,
): void {
  const events = uncoveredEvents(handlers, asked);
  if (events.length === 0) return;
  const denyTheRest = "auth.on('*', () => false)";
  logger.warn('auth events without a handler are allowed to every user', { events, denyTheRest });
}
