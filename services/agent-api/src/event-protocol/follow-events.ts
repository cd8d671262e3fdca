import { EventFollower, type EventSources, type FollowedThread } from './event-follower.ts';
import type { ThreadEvent } from './thread-event.ts';

/** Yields the events of a thread for one subscriber as they come, until the signal ends it. */
export async function* followEvents(
  sources: EventSources,
  thread: FollowedThread,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const { threadId, signal } = thread;
  const follower = new EventFollower(sources, thread);
  try {
    yield* await follower.goToPlace();
    const afterId = follower.place;
    for await (const entry of sources.streams.read(threadId, { afterId, signal })) yield* await follower.take(entry);
  } finally {
    follower.close();
  }
}
