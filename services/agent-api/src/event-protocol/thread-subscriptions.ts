import { compareIds } from '@runyard/run-stream';
import { EventFollower, type EventSources, type FollowedThread } from './event-follower.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface ThreadSubscriptionsOptions {
  threadId: string;
  sources: EventSources;
  /** Writes an event; returns what to wait for before the next one when the client does not keep up. */
  write(event: ThreadEvent): Promise<void> | undefined;
  /** Is called when the thread cannot be read. */
  onFailure(error: unknown): void;
}

interface Subscription {
  follower: EventFollower;
  ending: AbortController;
}

/**
 * The subscriptions of one connection to its thread. One reader gives each entry to all of them in turn: the client gets
 * every event in the thread's order, whichever subscription it is for, and once when several want it. Clients rely on
 * it: with the run's end the official one has seen all that came before.
 */
export class ThreadSubscriptions {
  readonly #options: ThreadSubscriptionsOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #reading: { stop: AbortController; ended: Promise<void> } | undefined;
  #adding: AbortController | undefined;
  #isClosed = false;

  constructor(options: ThreadSubscriptionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  has(id: string): boolean {
    return this.#subscriptions.has(id);
  }

  /**
   * Adds a subscription, one at a time. `answer` is called with the number of events that come at once because they are
   * kept, before the first of them is written. Nothing is written while the kept ones are counted.
   */
  async add(
    id: string,
    wanted: Omit<FollowedThread, 'threadId' | 'signal'>,
    answer: (kept: number) => Promise<void>,
  ): Promise<void> {
    const ending = new AbortController();
    const { threadId } = this.#options;
    this.#adding = ending;
    await this.#stop();
    if (this.#isClosed) return;
    try {
      const { follower, kept } = await this.#readKept({ ...wanted, threadId, signal: ending.signal });
      if (ending.signal.aborted) return follower.close();
      this.#subscriptions.set(id, { follower, ending });
      await answer(kept);
    } finally {
      this.#start();
    }
  }

  /** Ends a subscription; returns false when there is none with this id. */
  remove(id: string): boolean {
    const subscription = this.#subscriptions.get(id);
    if (!subscription) return false;
    this.#end(id, subscription);
    if (this.#subscriptions.size === 0) this.#reading?.stop.abort();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    for (const [id, subscription] of this.#subscriptions) this.#end(id, subscription);
    this.#adding?.abort();
    this.#reading?.stop.abort();
  }

  #end(id: string, { follower, ending }: Subscription): void {
    this.#subscriptions.delete(id);
    ending.abort();
    follower.close();
  }

  /** Reads what is kept once, unless it is too much to be held. */
  async #readKept(thread: FollowedThread): Promise<{ follower: EventFollower; kept: number }> {
    const { sources } = this.#options;
    let follower = new EventFollower(sources, thread);
    try {
      await follower.goToPlace();
      const { kept, isWhole } = await follower.readAhead();
      if (isWhole) return { follower, kept };
      follower.close();
      follower = new EventFollower(sources, thread);
      await follower.goToPlace();
      return { follower, kept };
    } catch (error) {
      follower.close();
      throw error;
    }
  }

  async #stop(): Promise<void> {
    this.#reading?.stop.abort();
    await this.#reading?.ended;
  }

  #start(): void {
    if (this.#isClosed || this.size === 0) return;
    const stop = new AbortController();
    this.#reading = { stop, ended: this.#read(stop.signal) };
  }

  /** Never rejects. */
  async #read(signal: AbortSignal): Promise<void> {
    const { threadId, sources, onFailure } = this.#options;
    const followers = [...this.#subscriptions.values()].map(({ follower }) => follower);
    const afterId = followers.map((follower) => follower.afterId).reduce(earlier);
    try {
      await this.#write(followers.flatMap((follower) => follower.start(afterId)));
      for await (const entry of sources.streams.read(threadId, { afterId, signal })) {
        const events: ThreadEvent[] = [];
        for (const { follower, ending } of this.#subscriptions.values()) {
          const taken = await follower.take(entry);
          // It may have ended meanwhile, and watches a run that it has just seen.
          if (ending.signal.aborted) follower.close();
          else events.push(...taken);
        }
        await this.#write(events);
      }
    } catch (error) {
      onFailure(error);
    }
  }

  async #write(events: ThreadEvent[]): Promise<void> {
    const written = new Set<string>();
    for (const event of events.sort(inOrder)) {
      if (written.has(event.eventId)) continue;
      written.add(event.eventId);
      const caughtUp = this.#options.write(event);
      if (caughtUp) await caughtUp;
    }
  }
}

function earlier(left: string, right: string): string {
  return compareIds(left, right) <= 0 ? left : right;
}

/** Events of the same number and place keep the order of their subscriptions. */
function inOrder(left: ThreadEvent, right: ThreadEvent): number {
  return left.seq - right.seq || left.place - right.place;
}
