import type { RunStreams, StreamEntry, StreamGap } from '@runyard/run-stream';
import { BEFORE_ALL, CONTROL_KINDS, compareIds, idOfSequence } from '@runyard/run-stream';
import { RunsOfThread, type RunsOfThreadSources } from '../streams/runs-of-thread.ts';
import type { ThreadAccess } from '../threads/thread-access.ts';
import { EventConverter } from './event-converter.ts';
import { type EventFilter, matchesFilter } from './event-filter.ts';
import { readKept } from './read-kept.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface EventSources extends RunsOfThreadSources {
  streams: Pick<RunStreams, 'read'>;
}

export interface Subscriber {
  access: ThreadAccess;
  filter: EventFilter;
  /** Ends the subscription: it gets nothing more. */
  signal: AbortSignal;
}

export interface FollowerOptions {
  threadId: string;
  /** At least one. Each event is given once, however many want it. */
  subscribers: readonly Subscriber[];
  /** The number of the last event that the client has; left out for everything that is kept. */
  since?: number | undefined;
  /** Ends the reading of what is kept. */
  signal: AbortSignal;
}

/** Events that a follower has read ahead of its client. */
export interface EventsAhead {
  /** How many there are for each subscriber, in their order. */
  counts: readonly number[];
  /** Undefined when they are too many to be held: then the follower that read them is of no more use. */
  events: ThreadEvent[] | undefined;
}

interface WantedEvent {
  event: ThreadEvent;
  by: Subscriber[];
}

/** Characters of events that one follower holds of what it has read ahead. */
const HELD_MAX = 1024 * 1024;

/**
 * Makes one client's events of the entries of a thread, which need not exist yet. What an event says may depend on the
 * run's earlier ones: a client that goes on in the middle gets what it would have got had it stayed.
 */
export class EventFollower {
  readonly #streams: Pick<RunStreams, 'read'>;
  readonly #threadId: string;
  readonly #runs: RunsOfThread;
  readonly #converter = new EventConverter();
  readonly #signal: AbortSignal;
  #subscribers: readonly Subscriber[];
  #place: string;

  constructor({ streams, watch, ends }: EventSources, { threadId, since, subscribers, signal }: FollowerOptions) {
    this.#streams = streams;
    this.#threadId = threadId;
    this.#runs = new RunsOfThread(threadId, { watch, ends });
    this.#signal = signal;
    this.#subscribers = subscribers;
    this.#place = since === undefined ? BEFORE_ALL : idOfSequence(since);
  }

  /** The id of the last entry that it has read, or that its client has. */
  get place(): string {
    return this.#place;
  }

  /**
   * Reads what is kept up to the place where the client goes on. Returns the events that share the number of that place
   * beside the first one: the client may have left between them.
   */
  async goToPlace(): Promise<ThreadEvent[]> {
    return eventsOf(await this.#goToPlace());
  }

  /** Reads what is kept after its place, up to another one if there is one to be reached. */
  async readAhead(upTo?: string): Promise<EventsAhead> {
    const subscribers = this.#subscribers;
    const counts = subscribers.map(() => 0);
    const events: ThreadEvent[] = [];
    let room = HELD_MAX;
    const hold = (wanted: WantedEvent[]) => {
      for (const { event, by } of wanted) {
        for (const subscriber of by) counts[subscribers.indexOf(subscriber)]! += 1;
        room -= event.params.length;
        if (room >= 0) events.push(event);
      }
    };
    hold(await this.#goToPlace());
    for await (const entry of this.#kept(this.#place, upTo)) hold(await this.#take(entry));
    return { counts, events: room >= 0 ? events : undefined };
  }

  /** Yields the events of what is kept after its place, up to another one if there is one to be reached. */
  async *readTo(upTo?: string): AsyncGenerator<ThreadEvent[], void, undefined> {
    for await (const entry of this.#kept(this.#place, upTo)) yield await this.take(entry);
  }

  /** Returns the events of the thread's next entry. */
  async take(entry: StreamEntry): Promise<ThreadEvent[]> {
    return eventsOf(await this.#take(entry));
  }

  /** Takes over the subscribers of a follower that has got to the same place. */
  join(other: EventFollower): void {
    this.#subscribers = [...this.#subscribers, ...other.#subscribers].filter(({ signal }) => !signal.aborted);
    other.close();
  }

  close(): void {
    this.#subscribers = [];
    this.#runs.unwatchAll();
  }

  /**
   * Yields what is kept after a place. With another one to be reached it waits while Redis does not answer; otherwise it
   * ends then, and there may be more.
   */
  async *#kept(place: string, upTo?: string): AsyncGenerator<StreamEntry, void, undefined> {
    const signal = this.#signal;
    let afterId = place;
    let isRead = upTo !== undefined && compareIds(afterId, upTo) >= 0;
    while (!isRead && !signal.aborted) {
      isRead = true;
      for await (const entry of readKept(this.#streams, this.#threadId, { afterId, signal })) {
        if (isLost(entry) && compareIds(entry.id, afterId) <= 0) {
          isRead = upTo === undefined;
          continue;
        }
        if (upTo !== undefined && compareIds(entry.id, upTo) > 0) return;
        afterId = entry.id;
        yield entry;
      }
    }
  }

  async #goToPlace(): Promise<WantedEvent[]> {
    const place = this.#place;
    if (place === BEFORE_ALL) return [];
    for await (const entry of this.#kept(BEFORE_ALL, place)) {
      if (compareIds(entry.id, place) === 0 && entry.kind !== CONTROL_KINDS.gap) {
        // Its first event alone has the place's own number. Others may not have come, and say by their id if they have.
        return (await this.#wantedOf(entry)).filter(({ event }) => event.eventId !== String(event.seq));
      }
      if (this.#runs.observe(entry)) this.#converter.convert(entry);
    }
    return [];
  }

  #take(entry: StreamEntry): Promise<WantedEvent[]> {
    this.#place = entry.id;
    return this.#wantedOf(entry);
  }

  /** Each entry is converted once, whoever may see it: what an event says must not depend on when its readers came. */
  async #wantedOf(entry: StreamEntry): Promise<WantedEvent[]> {
    const admitted: Subscriber[] = [];
    for (const subscriber of this.#subscribers) {
      const { access, signal } = subscriber;
      if ((await access.admits(entry, signal)) && !signal.aborted) admitted.push(subscriber);
    }
    if (!this.#runs.observe(entry)) return [];
    this.#converter.graphName = admitted.find(({ access }) => access.graphName !== undefined)?.access.graphName;
    const wanted: WantedEvent[] = [];
    for (const event of this.#converter.convert(entry)) {
      const by = admitted.filter(({ filter }) => matchesFilter(filter, event));
      if (by.length > 0) wanted.push({ event, by });
    }
    return wanted;
  }
}

function eventsOf(wanted: WantedEvent[]): ThreadEvent[] {
  return wanted.map(({ event }) => event);
}

/** Returns whether an entry says that events were lost; where it has an id of its own, the stream says so itself. */
function isLost({ kind, data }: StreamEntry): boolean {
  return kind === CONTROL_KINDS.gap && (JSON.parse(data) as StreamGap).reason === 'lost';
}
