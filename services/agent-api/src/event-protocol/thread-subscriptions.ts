import { sequenceOf } from '@runyard/run-stream';
import { EventFollower, type EventSources, type FollowedThread } from './event-follower.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface ThreadSubscriptionsOptions {
  threadId: string;
  sources: EventSources;
  /** Writes an event; returns what to wait for before the next one when the client does not keep up. */
  write(event: ThreadEvent): Promise<void> | undefined;
  /** Is called when the thread cannot be read for what has been answered. */
  onFailure(error: unknown): void;
}

type WantedEvents = Omit<FollowedThread, 'threadId' | 'signal'>;

/**
 * The subscriptions of one connection to its thread. One reader gives each entry to all of them: the client gets every
 * event in the thread's order, whichever subscription it is for, and once when several want it. Clients rely on it: with
 * the run's end the official one has seen all that came before. A new subscription gets by itself what the others have
 * had, while the reader waits, and joins them at their place.
 */
export class ThreadSubscriptions {
  readonly #options: ThreadSubscriptionsOptions;
  /** Aborted to end one, by their ids. */
  readonly #subscriptions = new Map<string, AbortController>();
  /** Reads for all that have joined; undefined when there is none. */
  #reader: { follower: EventFollower; stop: AbortController } | undefined;
  /** Settles when whoever reads or writes has done so. */
  #lastTurn: Promise<unknown> = Promise.resolve();

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
   * Adds a subscription. `answer` is called with the number of events that come at once, before the first of them is
   * written. Nothing is written while they are counted. What fails before the answer is thrown.
   */
  async add(id: string, wanted: WantedEvents, answer: (kept: number) => Promise<void>): Promise<void> {
    const ending = new AbortController();
    let isAnswered = false;
    const answerOnce = async (kept: number) => {
      await answer(kept);
      isAnswered = true;
    };
    this.#subscriptions.set(id, ending);
    try {
      await this.#inTurn(() => this.#begin(wanted, ending.signal, answerOnce));
    } catch (error) {
      const isEnded = !this.remove(id);
      if (!isAnswered) throw error;
      if (!isEnded) this.#options.onFailure(error);
    }
  }

  /** Ends a subscription; returns false when there is none with this id. */
  remove(id: string): boolean {
    const ending = this.#subscriptions.get(id);
    if (!ending) return false;
    this.#subscriptions.delete(id);
    ending.abort();
    if (this.size === 0) {
      this.#reader?.stop.abort();
      this.#reader = undefined;
    }
    return true;
  }

  close(): void {
    for (const id of [...this.#subscriptions.keys()]) this.remove(id);
  }

  async #begin(wanted: WantedEvents, signal: AbortSignal, answer: (kept: number) => Promise<void>): Promise<void> {
    const { threadId, sources } = this.#options;
    const place = this.#reader?.follower.place;
    const since = place === undefined ? wanted.since : earlier(wanted.since, sequenceOf(place));
    const follow = () => new EventFollower(sources, { ...wanted, threadId, since, signal });
    let follower = follow();
    try {
      const { count, events } = await follower.readAhead(place);
      if (signal.aborted) return;
      await answer(count);
      if (events) {
        await this.#write(events);
      } else {
        follower.close();
        follower = follow();
        await this.#write(await follower.goToPlace());
        // The first one is given the rest by its reader.
        if (place !== undefined) for await (const each of follower.readTo(place)) await this.#write(each);
      }
      if (signal.aborted) return;
      if (this.#reader) this.#reader.follower.join(follower);
      else this.#read(follower);
    } finally {
      if (this.#reader?.follower !== follower) follower.close();
    }
  }

  #read(follower: EventFollower): void {
    const { threadId, sources, onFailure } = this.#options;
    const stop = new AbortController();
    this.#reader = { follower, stop };
    const read = async () => {
      const { signal } = stop;
      for await (const entry of sources.streams.read(threadId, { afterId: follower.place, signal })) {
        await this.#inTurn(async () => this.#write(await follower.take(entry)));
      }
    };
    read()
      .catch(onFailure)
      .finally(() => follower.close());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  async #write(events: ThreadEvent[]): Promise<void> {
    for (const event of events) {
      const caughtUp = this.#options.write(event);
      if (caughtUp) await caughtUp;
    }
  }
}

function earlier(since: number | undefined, place: number): number | undefined {
  return since === undefined ? undefined : Math.min(since, place);
}
