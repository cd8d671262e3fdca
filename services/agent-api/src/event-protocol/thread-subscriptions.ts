import { sequenceOf } from '@runyard/run-stream';
import { EventFollower, type EventSources, type FollowerOptions, type Subscriber } from './event-follower.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface ThreadSubscriptionsOptions {
  threadId: string;
  sources: EventSources;
  /** Writes an event; returns what to wait for before the next one when the client does not keep up. */
  write(event: ThreadEvent): Promise<void> | undefined;
  /** Is called when the thread cannot be read for what has been answered. */
  onFailure(error: unknown): void;
}

/** A subscription that a client asks for. */
export interface NewSubscription extends Omit<Subscriber, 'signal'> {
  id: string;
  /** Is called with the number of its events that come at once, before the first of them is written. */
  answer(kept: number): Promise<void>;
}

/**
 * The subscriptions of one connection to its thread. One reader gives each entry to all of them: the client gets every
 * event in the thread's order, whichever subscription it is for, and once when several want it. Clients rely on it: with
 * the run's end the official one has seen all that came before. New subscriptions get by themselves what the others have
 * had, while the reader waits, and join them at their place.
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
   * Adds subscriptions that begin together, after the event with this number if there is one that the client has: what
   * is kept comes once for all of them, in its order. Nothing is written while it is counted. What fails before the
   * first answer is thrown.
   */
  async add(added: readonly NewSubscription[], since?: number): Promise<void> {
    let isAnswered = false;
    const answer = async (counts: readonly number[]) => {
      for (const [index, subscription] of added.entries()) {
        await subscription.answer(counts[index]!);
        isAnswered = true;
      }
    };
    const subscribers = added.map(({ id, access, filter }) => ({ access, filter, signal: this.#register(id) }));
    try {
      await this.#inTurn(() => this.#begin({ subscribers, since }, answer));
    } catch (error) {
      const isEnded = !added.map(({ id }) => this.remove(id)).includes(true);
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

  /** Returns the signal of its end. */
  #register(id: string): AbortSignal {
    const ending = new AbortController();
    this.#subscriptions.set(id, ending);
    return ending.signal;
  }

  async #begin(
    { subscribers, ...wanted }: Pick<FollowerOptions, 'subscribers' | 'since'>,
    answer: (counts: readonly number[]) => Promise<void>,
  ): Promise<void> {
    const { threadId, sources } = this.#options;
    const place = this.#reader?.follower.place;
    const since = place === undefined ? wanted.since : earlier(wanted.since, sequenceOf(place));
    // No command ends one of them before they have begun: they end with their connection, all of them.
    const { signal } = subscribers[0]!;
    const follow = () => new EventFollower(sources, { threadId, subscribers, since, signal });
    let follower = follow();
    try {
      const { counts, events } = await follower.readAhead(place);
      if (signal.aborted) return;
      await answer(counts);
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
