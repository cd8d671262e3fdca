import { isDeepStrictEqual } from 'node:util';

/** An event of the event protocol (version 2). */
export interface ProtocolEvent {
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; data: unknown };
}

/** All that one client got of a thread's events, over its connections. */
export class EventUnion {
  readonly #events = new Map<string, ProtocolEvent>();
  /** Events that may not be: under an id that another one had before, or out of order. */
  readonly faults: string[] = [];
  /** The number of the last event, from which the client goes on. */
  since: number | undefined;
  /** Runs that were told to have ended. */
  ended = 0;
  gaps = 0;

  /**
   * Adds an event of a connection that asked for events after `since`, or for all. A gap is a place to go on from, and
   * no event of the stream.
   */
  add(event: ProtocolEvent, since: number | undefined): void {
    const { event_id: id, seq, method } = event;
    if (method === 'gap') {
      this.gaps += 1;
      this.since = Math.max(seq, this.since ?? 0);
      return;
    }
    const known = this.#events.get(id);
    if (known && !isDeepStrictEqual(known, event)) {
      this.faults.push(`${id} was ${JSON.stringify(known)} and is ${JSON.stringify(event)}`);
    }
    if (known && since !== undefined) this.faults.push(`${id} came again to a client that went on after ${since}`);
    if (known) return;
    if (this.since !== undefined && seq <= this.since) this.faults.push(`after ${this.since} came ${id}`);
    this.#events.set(id, event);
    this.since = seq;
    if (isEndOfRun(event)) this.ended += 1;
  }

  get ids(): string[] {
    return [...this.#events.keys()];
  }

  /** Returns the data of the custom events, in order. */
  get customData(): unknown[] {
    const custom = [...this.#events.values()].filter(({ method }) => method === 'custom');
    return custom.map(({ params }) => (params.data as { payload: unknown }).payload);
  }

  /** Returns what it has not in common with the whole stream; undefined when it is the same. */
  difference(whole: readonly string[]): string | undefined {
    if (whole.length === 0) return 'the stream that was to be compared with is empty';
    const { ids } = this;
    const missing = whole.filter((id) => !this.#events.has(id));
    if (missing.length > 0) return `${missing.length} of ${whole.length} events are missing: ${missing[0]} and later`;
    const known = new Set(whole);
    const foreign = ids.filter((id) => !known.has(id));
    if (foreign.length > 0) return `${foreign.length} events are not of the stream, the first ${foreign[0]}`;
    return isDeepStrictEqual(ids, whole) ? undefined : 'the events came in another order';
  }
}

function isEndOfRun({ method, params: { namespace, data } }: ProtocolEvent): boolean {
  return method === 'lifecycle' && namespace.length === 0 && (data as { event: string }).event !== 'running';
}
