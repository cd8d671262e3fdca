import { createParser } from 'eventsource-parser';
import { isUuid } from '../platform/uuid.ts';

/** A thread whose events are followed. */
export interface FollowedThread {
  kind: 'thread';
  workspaceId: string;
  deploymentId: string;
  threadId: string;
  channels: string[];
  /** Only events after this `seq`. */
  since?: number | undefined;
}

/** The runs of a workspace, of which is said that some have changed. */
interface FollowedRuns {
  kind: 'runs';
  workspaceId: string;
}

export type Followed = FollowedThread | FollowedRuns;

/**
 * An event of what is followed, as the platform sent it. `open`: it begins, or goes on after a break. `closed`: it has
 * ended, with the `status` of the answer, 0 where there is none.
 */
export interface LiveEvent {
  event: string;
  data: unknown;
}

type Listener = (event: LiveEvent) => void;

interface Subscription {
  followed: Followed;
  listeners: Set<Listener>;
  /** The newest `seq` of a thread's events. */
  since: number | undefined;
  /** Events with that `seq`, which come again after a break. */
  seen: Set<string>;
  /** True when it has ended, and is asked for again after a pause only. */
  isPaused: boolean;
  /** The time at which it began, in milliseconds; undefined while it has not. */
  openedAt: number | undefined;
  /** Ends soon after a begin: pauses grow. */
  ends: number;
}

/** Changes that come together make one new stream. */
const GATHER_MS = 20;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 5_000;
/** The stream has a heartbeat each five seconds: one that is silent for longer is dead. */
const SILENCE_MS = 12_000;
/** Streams that are good for some minutes alone last longer, and go on at once. */
const LASTING_MS = 30_000;
const PAUSE_MIN_MS = 3_000;
const PAUSE_MAX_MS = 60_000;
const EVENT_LENGTH_MAX = 4_000_000;
/** The most that the backend follows for one browser. */
const [THREADS_MAX, WORKSPACES_MAX] = [50, 10];

/**
 * The one stream of a browser, with all that its windows follow. A change of that opens a new stream, which goes on where
 * the one before was.
 */
export class LiveConnection {
  readonly #subscriptions = new Map<string, Subscription>();
  #stream: AbortController | undefined;
  #opening: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** The number of threads that were followed. */
  #threads = 0;

  /** Follows something; `listener` gets its events until the returned function is called. */
  follow(followed: Followed, listener: Listener): () => void {
    const key = this.#keyOf(followed);
    const known = this.#subscriptions.get(key);
    const subscription = known ?? {
      followed,
      listeners: new Set<Listener>(),
      since: followed.kind === 'thread' ? followed.since : undefined,
      seen: new Set<string>(),
      isPaused: false,
      openedAt: undefined,
      ends: 0,
    };
    subscription.listeners.add(listener);
    this.#subscriptions.set(key, subscription);
    if (known) listener({ event: 'open', data: {} });
    else this.#openSoon(GATHER_MS);
    return () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size > 0 || this.#subscriptions.get(key) !== subscription) return;
      this.#subscriptions.delete(key);
      this.#openSoon(GATHER_MS);
    };
  }

  /** Asks anew at once, for example when the network is back. */
  wake(): void {
    this.#failures = 0;
    if (this.#subscriptions.size > 0) this.#openSoon(0);
  }

  /** Windows share hints about runs. Each gets the events of a thread from its own beginning on. */
  #keyOf(followed: Followed): string {
    if (followed.kind === 'runs') return `runs:${followed.workspaceId}`;
    this.#threads += 1;
    return `thread:${this.#threads}`;
  }

  #openSoon(ms: number): void {
    clearTimeout(this.#opening);
    this.#opening = setTimeout(() => void this.#open(), ms);
  }

  async #open(): Promise<void> {
    const before = this.#stream;
    const stream = new AbortController();
    this.#stream = stream;
    const active = [...this.#subscriptions].filter(
      ([, { isPaused, followed }]) => !isPaused && canBeFollowed(followed),
    );
    if (active.length === 0) {
      before?.abort();
      return;
    }
    let openedAt: number | undefined;
    try {
      const response = await fetch('/live', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(requestOf(active)),
        signal: stream.signal,
      });
      before?.abort();
      // Whoever signs in again comes to a new page.
      if (response.status === 401) return;
      if (!response.ok || !response.body) throw new Error(`The live stream has the status ${response.status}`);
      openedAt = Date.now();
      await this.#read(response.body, stream);
    } catch {
      // It is opened again, whatever ended it.
    }
    if (this.#stream !== stream) return;
    clearTimeout(this.#silence);
    const hasLasted = openedAt !== undefined && Date.now() - openedAt > LASTING_MS;
    this.#failures = hasLasted ? 1 : this.#failures + 1;
    this.#openSoon(Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (this.#failures - 1)) * (0.5 + Math.random()));
  }

  async #read(body: ReadableStream<Uint8Array>, stream: AbortController): Promise<void> {
    const parser = createParser({
      maxBufferSize: EVENT_LENGTH_MAX,
      onEvent: ({ data }) => this.#onEvent(data),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') stream.abort();
      },
    });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      clearTimeout(this.#silence);
      this.#silence = setTimeout(() => stream.abort(), SILENCE_MS);
      const { done, value } = await reader.read();
      if (done || stream.signal.aborted) return;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  #onEvent(text: string): void {
    const { id, event, data: inner } = JSON.parse(text) as { id: string; event: string; data: string };
    const subscription = this.#subscriptions.get(id);
    const data = objectIn(inner);
    // Code of a project may write events of its own: one that is none stops no other.
    if (!subscription || !data) return;
    if (subscription.followed.kind === 'thread' && !this.#isNew(subscription, data)) return;
    for (const listener of subscription.listeners) listener({ event, data });
    if (event === 'open') subscription.openedAt = Date.now();
    if (event === 'closed') this.#pause(id, subscription);
  }

  /** Returns whether an event has not come before. */
  #isNew(subscription: Subscription, data: object): boolean {
    const { seq, event_id: id } = data as { seq?: unknown; event_id?: unknown };
    if (typeof seq !== 'number' || typeof id !== 'string') return true;
    if (subscription.seen.has(id)) return false;
    if (subscription.since === undefined || seq > subscription.since) {
      subscription.since = seq;
      subscription.seen.clear();
    }
    subscription.seen.add(id);
    return true;
  }

  /** Leaves out what has ended, for a while: a thread that is gone would end again at once. */
  #pause(key: string, subscription: Subscription): void {
    const { openedAt } = subscription;
    const hasLasted = openedAt !== undefined && Date.now() - openedAt > LASTING_MS;
    subscription.openedAt = undefined;
    subscription.ends = hasLasted ? 0 : subscription.ends + 1;
    const pauseMs = hasLasted ? GATHER_MS : Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (subscription.ends - 1));
    subscription.isPaused = true;
    setTimeout(() => {
      subscription.isPaused = false;
      if (this.#subscriptions.get(key) === subscription) this.#openSoon(GATHER_MS);
    }, pauseMs);
  }
}

/** Returns whether the ids are such: the addresses of pages may have any, and the whole request would be refused. */
function canBeFollowed(followed: Followed): boolean {
  const ids = followed.kind === 'runs' ? [] : [followed.deploymentId, followed.threadId];
  return [followed.workspaceId, ...ids].every((id) => isUuid(id));
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function requestOf(active: [string, Subscription][]) {
  return {
    runs: active
      .flatMap(([, { followed }]) => (followed.kind === 'runs' ? [followed.workspaceId] : []))
      .slice(-WORKSPACES_MAX),
    threads: active
      .flatMap(([id, { followed, since }]) => (followed.kind === 'thread' ? [threadOf(id, followed, since)] : []))
      .slice(-THREADS_MAX),
  };
}

function threadOf(id: string, followed: FollowedThread, since: number | undefined) {
  return {
    id,
    tenant_id: followed.workspaceId,
    deployment_id: followed.deploymentId,
    thread_id: followed.threadId,
    channels: followed.channels,
    ...(since !== undefined && { since }),
  };
}
