import type { ServerResponse } from 'node:http';
import { formatSseEvent, LiveResponse, SSE_HEADERS, SSE_HEARTBEAT } from '@runyard/service-kit';
import type { OpenResponses } from '../streams/open-responses.ts';
import type { EventSources } from './event-follower.ts';
import { type FollowedThread, followEvents } from './follow-events.ts';
import { eventMethod, renderEvent } from './thread-event.ts';

/** Sends the events of a thread until the client leaves. A process that stops cuts it: its client resumes elsewhere. */
export async function sendEvents(
  sources: EventSources & { open: OpenResponses },
  thread: Omit<FollowedThread, 'signal'>,
  res: ServerResponse,
): Promise<void> {
  const response = new LiveResponse(res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT });
  sources.open.add(response, { isResumable: true });
  for await (const event of followEvents(sources, { ...thread, signal: response.closed })) {
    const text = formatSseEvent({ event: eventMethod(event), data: renderEvent(event), id: event.eventId });
    const caughtUp = response.write(text);
    if (caughtUp) await caughtUp;
  }
  response.end();
}
