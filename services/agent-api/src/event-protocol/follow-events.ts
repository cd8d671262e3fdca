import { EventFollower, type EventSources, type Subscriber } from './event-follower.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface FollowedThread extends Subscriber {
  threadId: string;
  /** The number of the last event that the client has; left out for everything that is kept. */
  since?: number | undefined;
}

/** Yields the events of a thread for one subscriber as they come, until the signal ends it. */
export async function* followEvents(
  sources: EventSources,
  { threadId, since, ...subscriber }: FollowedThread,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const { signal } = subscriber;
  const follower = new EventFollower(sources, { threadId, since, subscribers: [subscriber], signal });
  try {
    yield* await follower.goToPlace();
    const afterId = follower.place;
    for await (const entry of sources.streams.read(threadId, { afterId, signal })) yield* await follower.take(entry);
  } finally {
    follower.close();
  }
}
