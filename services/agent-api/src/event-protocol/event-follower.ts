import type { RunStreams, StreamEntry, StreamGap } from '@runyard/run-stream';
import { BEFORE_ALL, CONTROL_KINDS, compareIds, idOfSequence, sequenceOf } from '@runyard/run-stream';
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

/** Characters of events that one follower holds of what it has read ahead. */
const HELD_MAX = 1024 * 1024;

/**
 * Makes one subscriber's events of the entries of a thread, which need not exist yet. What an event says may depend on
 * the run's earlier ones: a client that goes on in the middle gets what it would have got had it stayed.
 */
export class EventFollower {
  readonly #streams: Pick<RunStreams, 'read'>;
  readonly #thread: FollowedThread;
  readonly #runs: RunsOfThread;
  readonly #converter = new EventConverter();
  #afterId: string;
  /** Events up to `#afterId` that nobody has taken yet. */
  #held: ThreadEvent[] = [];
  /** True as long as the entries that come may be such that were read before. */
  #isAhead = false;

  constructor({ streams, watch, ends }: EventSources, thread: FollowedThread) {
    this.#streams = streams;
    this.#thread = thread;
    this.#runs = new RunsOfThread(thread.threadId, { watch, ends });
    this.#afterId = thread.since === undefined ? BEFORE_ALL : idOfSequence(thread.since);
  }

  /** The id of the last entry that it has read, or that its client has. */
  get afterId(): string {
    return this.#afterId;
  }

  /**
   * Reads what is kept up to the place where the client goes on, and holds the events that share the number of that
   * place beside the first one: the client may have left between them.
   */
  async goToPlace(): Promise<void> {
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
        if (compareIds(entry.id, place) > 0) return;
        lastId = entry.id;
        if (!this.#runs.observe(entry)) continue;
        const isPlace = compareIds(entry.id, place) === 0;
        if (isPlace && !(await this.#thread.access.admits(entry, signal))) continue;
        const events = this.#converter.convert(entry);
        if (!isPlace) continue;
        this.#held = this.#wanted(events.slice(1));
        return;
      }
      if (isWhole) return;
    }
  }

  /**
   * Reads what is kept after its place, and holds the events for `start` and `take`. Returns how many there are, and
   * whether it holds them all: it is of no more use when they are too many, or could not be read to their end.
   */
  async readAhead(): Promise<{ kept: number; isWhole: boolean }> {
    const { threadId, signal } = this.#thread;
    let kept = this.#held.length;
    let room = HELD_MAX;
    let isRead = true;
    for await (const entry of readKept(this.#streams, threadId, { afterId: this.#afterId, signal })) {
      if (isLost(entry)) isRead = false;
      else
        for (const event of await this.#convert(entry)) {
          kept += 1;
          room -= event.params.length;
          if (room >= 0) this.#held.push(event);
        }
      if (compareIds(entry.id, this.#afterId) > 0) this.#afterId = entry.id;
    }
    return { kept, isWhole: isRead && room >= 0 };
  }

  /** Prepares for entries after a place, which is at or before its own. Returns the events up to there. */
  start(afterId: string): ThreadEvent[] {
    this.#isAhead = compareIds(this.#afterId, afterId) > 0;
    return this.#release(this.#isAhead ? afterId : undefined);
  }

  /** Returns the events of the thread's next entry. Of an entry that it has read ahead these are the ones it holds. */
  async take(entry: StreamEntry): Promise<ThreadEvent[]> {
    const isBefore = this.#isAhead && compareIds(entry.id, this.#afterId) <= 0;
    const released = this.#release(isBefore ? entry.id : undefined);
    if (isBefore && entry.kind !== CONTROL_KINDS.gap) return released;
    if (!isBefore) {
      this.#isAhead = false;
      this.#afterId = entry.id;
    }
    return [...released, ...(await this.#convert(entry))];
  }

  close(): void {
    this.#runs.unwatchAll();
  }

  /** Returns the held events up to an entry, or all of them, and holds them no longer. */
  #release(upToId?: string): ThreadEvent[] {
    if (this.#held.length === 0) return [];
    const last = upToId === undefined ? Number.POSITIVE_INFINITY : sequenceOf(upToId);
    const next = this.#held.findIndex(({ seq }) => seq > last);
    return this.#held.splice(0, next < 0 ? this.#held.length : next);
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
