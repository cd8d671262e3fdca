import { RunEvents, type RunTimes } from './run-events.ts';
import { RunHistory, type StatesOfRun } from './run-history.ts';
import type { ThreadEvent } from './thread-event.ts';
import { Timeline, type TimelineRow } from './timeline.ts';
import { gapEntry, runError } from './timeline-entries.ts';
import { applyEvent } from './timeline-events.ts';

export interface FeedSnapshot {
  rows: readonly TimelineRow[];
  /** Another number for each change, also one of an entry in place. */
  version: number;
  /** True once events said of the end of the run. */
  hasEnded: boolean;
}

export interface FeedAttempt {
  attempt: number;
  started_at: string | null;
  ended_at: string | null;
  outcome: string | null;
}

/** Calls back once before the next picture, or soon where none is drawn. */
export type RequestFrame = (callback: () => void) => void;

/** So long a batch of events may take: what is left waits for the next frame. */
const BATCH_MS = 12;

/**
 * The timeline of a run that is shown: its history, and its events as they come. Thousands of events a second make one
 * new snapshot a frame.
 */
export class RunFeed {
  readonly timeline = new Timeline();
  readonly history: RunHistory;
  readonly #events: RunEvents;
  readonly #requestFrame: RequestFrame;
  readonly #listeners = new Set<() => void>();
  #pending: ThreadEvent[] = [];
  #isRequested = false;
  #hasTasks = false;
  /** The moment of the newest event, by the clock of the platform. */
  #newestAt = 0;
  #snapshot: FeedSnapshot = { rows: [], version: 0, hasEnded: false };

  constructor(times: RunTimes, states: StatesOfRun, requestFrame: RequestFrame = requestPicture) {
    this.#events = new RunEvents(times);
    this.#requestFrame = requestFrame;
    this.history = new RunHistory(this.timeline, states, () => this.#request());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getSnapshot = (): FeedSnapshot => this.#snapshot;

  /** True once an event told of a task: a run of other stream modes has none, and only its history tells. */
  get hasTasks(): boolean {
    return this.#hasTasks;
  }

  addEvent(event: ThreadEvent): void {
    this.#pending.push(event);
    this.#request();
  }

  /** Marks the place where the stream of events broke off. It goes on after what came last. */
  addBreak(): void {
    const at = this.#pending.at(-1)?.params.timestamp ?? this.#newestAt;
    if (at === 0) return;
    this.timeline.put(gapEntry(`break-${at}`, 'The stream of events broke off here, and goes on below', at));
    this.#request();
  }

  updateRun(times: RunTimes, attempts: readonly FeedAttempt[], error: unknown): void {
    this.#events.update(times);
    if (attempts.length > 1) for (const attempt of attempts) this.#addAttempt(attempt);
    if (error && !this.timeline.get('error')) this.timeline.put(runError(error, times.endedAt));
    this.#request();
  }

  /** The ids of the questions that nobody has answered in this run. */
  waitingInterrupts(): string[] {
    const entries = this.#snapshot.rows.map(({ id }) => this.timeline.get(id)!);
    return entries
      .filter(({ kind, status }) => kind === 'interrupt' && status === 'waiting')
      .map(({ id }) => id.slice('interrupt:'.length));
  }

  #addAttempt({ attempt, started_at: startedAt, ended_at: endedAt, outcome }: FeedAttempt): void {
    const at = startedAt === null ? 0 : Date.parse(startedAt);
    this.timeline.put({
      id: `attempt:${attempt}`,
      kind: 'attempt',
      title: `Attempt ${attempt}`,
      parent: undefined,
      order: [at, -1],
      status: outcome === null ? 'running' : outcome === 'success' || outcome === 'interrupted' ? 'success' : 'error',
      startedAt: at,
      endedAt: endedAt === null ? undefined : Date.parse(endedAt),
      text: outcome?.replaceAll('_', ' '),
      details: { attempt: { attempt, started_at: startedAt, ended_at: endedAt, outcome } },
    });
  }

  #request(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    this.#requestFrame(() => this.#publish());
  }

  #publish(): void {
    this.#isRequested = false;
    const until = performance.now() + BATCH_MS;
    let done = 0;
    while (done < this.#pending.length && (done % 50 !== 0 || performance.now() < until)) {
      const event = this.#pending[done++]!;
      if (!this.#events.accepts(event)) continue;
      if (event.method === 'tasks') this.#hasTasks = true;
      this.#newestAt = event.params.timestamp;
      applyEvent(this.timeline, event);
    }
    this.#pending = this.#pending.slice(done);
    if (this.#pending.length > 0) this.#request();
    const { version } = this.#snapshot;
    this.#snapshot = { rows: this.timeline.rows(), version: version + 1, hasEnded: this.#events.hasEnded };
    for (const listener of this.#listeners) listener();
  }
}

/** Hidden pages draw no pictures, and are kept up to date all the same. */
function requestPicture(callback: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(callback);
  else setTimeout(callback, 250);
}
