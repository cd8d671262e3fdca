import {
  BEFORE_ALL,
  CONTROL_KINDS,
  compareIds,
  idOfSequence,
  type RunStreams,
  type StreamEntry,
  type StreamGap,
} from '@runyard/run-stream';
import { RunsOfThread, type RunsOfThreadSources } from '../streams/runs-of-thread.ts';
import { EventConverter } from './event-converter.ts';
import { type EventFilter, matchesFilter } from './event-filter.ts';
import { readKept } from './read-kept.ts';
import type { ThreadAccess } from './thread-access.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface EventSources extends RunsOfThreadSources {
  streams: Pick<RunStreams, 'read'>;
}

export interface FollowedThread {
  threadId: string;
  access: ThreadAccess;
  filter: EventFilter;
  /** The number of the last event that the client has; left out for everything that is kept. */
  since?: number | undefined;
  signal: AbortSignal;
}

/** Characters of kept events that are held for one subscription while they are counted. */
const HELD_MAX = 1024 * 1024;

/**
 * Yields the events of a thread, which need not exist yet, as they come, until the signal ends it. What an event says
 * may depend on the run's earlier ones: a client that goes on in the middle gets what it would have got had it stayed.
 */
export async function* followEvents(
  sources: EventSources,
  thread: FollowedThread,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const follower = new EventFollower(sources, thread);
  try {
    yield* await follower.goToPlace();
    yield* follower.follow();
  } finally {
    follower.close();
  }
}

/** The events of a thread, with how many of them come at once because they are kept. */
export interface CountedEvents {
  kept: number;
  events: AsyncGenerator<ThreadEvent, void, undefined>;
}

/**
 * Reads what is kept of a thread, and returns the events as `followEvents` yields them. What was read is not read again,
 * unless it is too much to be held. The events have to be read to their end, which the signal brings.
 */
export async function countAndFollowEvents(sources: EventSources, thread: FollowedThread): Promise<CountedEvents> {
  const follower = new EventFollower(sources, thread);
  try {
    const held = await follower.goToPlace();
    const isWhole = await follower.readKept(held);
    const { keptCount: kept } = follower;
    if (isWhole) return { kept, events: goOn(follower, held) };
    follower.close();
    return { kept, events: followEvents(sources, thread) };
  } catch (error) {
    follower.close();
    throw error;
  }
}

async function* goOn(follower: EventFollower, held: ThreadEvent[]): AsyncGenerator<ThreadEvent, void, undefined> {
  try {
    yield* held.splice(0);
    yield* follower.follow();
  } finally {
    follower.close();
  }
}

/** Reads a thread's stream once, from its beginning on, and converts it. */
class EventFollower {
  readonly #streams: Pick<RunStreams, 'read'>;
  readonly #thread: FollowedThread;
  readonly #runs: RunsOfThread;
  readonly #converter = new EventConverter();
  /** The place after which it goes on. */
  #afterId: string;
  /** The number of kept events that were read. */
  keptCount = 0;

  constructor({ streams, watch, ends }: EventSources, thread: FollowedThread) {
    this.#streams = streams;
    this.#thread = thread;
    this.#runs = new RunsOfThread(thread.threadId, { watch, ends });
    this.#afterId = thread.since === undefined ? BEFORE_ALL : idOfSequence(thread.since);
  }

  /**
   * Converts what is kept up to the place where the client goes on. Returns the events that share the number of that
   * place beside the first one: the client may have left between them.
   */
  async goToPlace(): Promise<ThreadEvent[]> {
    const place = this.#afterId;
    const { threadId, signal } = this.#thread;
    let lastId = BEFORE_ALL;
    while (place !== BEFORE_ALL && !signal.aborted) {
      let isWhole = true;
      for await (const entry of readKept(this.#streams, threadId, { afterId: lastId, signal })) {
        const isAgain = compareIds(entry.id, lastId) <= 0;
        // Redis did not answer: nobody knows yet what there is.
        if (isAgain && entry.kind === CONTROL_KINDS.gap) isWhole = !isLost(entry);
        if (isAgain) continue;
        if (compareIds(entry.id, place) > 0) return [];
        lastId = entry.id;
        if (!this.#runs.observe(entry)) continue;
        const isPlace = compareIds(entry.id, place) === 0;
        if (isPlace && !(await this.#thread.access.admits(entry, signal))) continue;
        const events = this.#converter.convert(entry);
        if (isPlace) return this.#wanted(events.slice(1));
      }
      if (isWhole) break;
    }
    return [];
  }

  /** Adds the kept events after the place to others. Returns false when they are too many to hold, or cannot be read. */
  async readKept(held: ThreadEvent[]): Promise<boolean> {
    const { threadId, signal } = this.#thread;
    let room = HELD_MAX;
    let isWhole = true;
    this.keptCount = held.length;
    for await (const entry of readKept(this.#streams, threadId, { afterId: this.#afterId, signal })) {
      if (isLost(entry)) isWhole = false;
      else
        for (const event of await this.#convert(entry)) {
          this.keptCount += 1;
          room -= event.params.length;
          if (room >= 0) held.push(event);
        }
      if (compareIds(entry.id, this.#afterId) > 0) this.#afterId = entry.id;
    }
    return isWhole && room >= 0;
  }

  async *follow(): AsyncGenerator<ThreadEvent, void, undefined> {
    const { threadId, signal } = this.#thread;
    for await (const entry of this.#streams.read(threadId, { afterId: this.#afterId, signal })) {
      yield* await this.#convert(entry);
    }
  }

  close(): void {
    this.#runs.unwatchAll();
  }

  async #convert(entry: StreamEntry): Promise<ThreadEvent[]> {
    const { access, signal } = this.#thread;
    if (!(await access.admits(entry, signal)) || !this.#runs.observe(entry)) return [];
    this.#converter.graphName = access.graphName;
    return this.#wanted(this.#converter.convert(entry));
  }

  #wanted(events: ThreadEvent[]): ThreadEvent[] {
    return events.filter((event) => matchesFilter(this.#thread.filter, event));
  }
}

/** Returns whether an entry says that the stream cannot be read. */
function isLost({ kind, data }: StreamEntry): boolean {
  return kind === CONTROL_KINDS.gap && (JSON.parse(data) as StreamGap).reason === 'lost';
}
