import type { Thread } from '@runyard/contracts';
import type { ThreadPlace } from '../../platform/threads.ts';
import {
  afterEvent,
  type ChatState,
  EMPTY_CHAT,
  errorText,
  type RunEvent,
  withEarlierValues,
  withValues,
} from './chat-state.ts';
import { joinRun, type RunListener, type RunStart, streamRun } from './run-stream.ts';

export interface ChatSnapshot {
  chat: ChatState;
  /** `starting`: nothing has come of the run yet. */
  status: 'idle' | 'starting' | 'running';
  /** The run in flight, or the last one. */
  runId: string | undefined;
  /** True while the stream is broken. */
  isBroken: boolean;
  /** Why a run could not be started or followed. */
  fault: unknown;
}

interface Streams {
  streamRun: typeof streamRun;
  joinRun: typeof joinRun;
}

const IDLE: ChatSnapshot = { chat: EMPTY_CHAT, status: 'idle', runId: undefined, isBroken: false, fault: undefined };

/** One thread that somebody talks with. It follows one run at a time, and its state is read by `subscribe`. */
export class ChatSession {
  readonly #place: ThreadPlace;
  /** Reads the thread anew: what a run came to is what the thread says. */
  readonly #loadThread: () => Promise<Thread>;
  readonly #streams: Streams;
  readonly #watchers = new Set<() => void>();
  #snapshot = IDLE;
  #following: AbortController | undefined;
  /** True once the stream of the run has brought values. */
  #hasValues = false;

  constructor(place: ThreadPlace, loadThread: () => Promise<Thread>, streams: Streams = { streamRun, joinRun }) {
    this.#place = place;
    this.#loadThread = loadThread;
    this.#streams = streams;
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly snapshot = (): ChatSnapshot => this.#snapshot;

  /** Starts a run. `said` is shown at once, before the graph has it. */
  start(start: RunStart, said?: Record<string, unknown>): void {
    if (this.#snapshot.status !== 'idle') return;
    const { chat } = this.#snapshot;
    const cleared = { ...chat, error: undefined };
    this.#follow(said ? afterEvent(cleared, { event: 'messages', data: [said] }) : cleared, (listener, signal) =>
      this.#streams.streamRun(this.#place, start, listener, signal),
    );
  }

  /** Follows a run that somebody else, or an answer, has started. */
  join(runId: string): void {
    if (this.#snapshot.status !== 'idle') return;
    const { chat } = this.#snapshot;
    this.#follow({ ...chat, error: undefined }, (listener, signal) =>
      this.#streams.joinRun(this.#place, runId, listener, signal),
    );
  }

  /** Returns true while the stream of the followed run brings the values. */
  hasValues(): boolean {
    return this.#snapshot.status !== 'idle' && this.#hasValues;
  }

  /** Shows what the thread holds, unless the run that is followed says it sooner. */
  showThread(thread: Thread): void {
    const { chat, status } = this.#snapshot;
    if (status === 'idle') this.#set({ chat: chatOf(chat, thread) });
    else if (!this.#hasValues && thread.values !== null) this.#set({ chat: withEarlierValues(chat, thread.values) });
  }

  /** Ends what is followed here; the run goes on. */
  leave(): void {
    this.#following?.abort();
    this.#following = undefined;
    this.#set({ status: 'idle', isBroken: false });
  }

  #follow(chat: ChatState, read: (listener: RunListener, signal: AbortSignal) => Promise<void>): void {
    const following = new AbortController();
    const { signal } = following;
    this.#following = following;
    this.#hasValues = false;
    this.#set({ chat, status: 'starting', runId: undefined, isBroken: false, fault: undefined });
    const listener: RunListener = {
      onRun: (runId) => !signal.aborted && this.#set({ runId }),
      onEvents: (events) => !signal.aborted && this.#onEvents(events),
      onBreak: (isBroken) => !signal.aborted && this.#set({ isBroken }),
    };
    void this.#end(read(listener, signal), signal);
  }

  async #end(reading: Promise<void>, signal: AbortSignal): Promise<void> {
    let fault: unknown;
    try {
      await reading;
    } catch (error) {
      fault = error;
    }
    if (signal.aborted) return;
    const thread = await this.#loadThread().catch(() => undefined);
    if (signal.aborted) return;
    const { chat } = this.#snapshot;
    this.#set({ chat: thread ? chatOf(chat, thread) : chat, status: 'idle', isBroken: false, fault });
  }

  #onEvents(events: RunEvent[]): void {
    let { chat } = this.#snapshot;
    for (const event of events) chat = afterEvent(chat, event);
    this.#hasValues ||= events.some(({ event }) => event === 'values');
    this.#set({ chat, status: 'running' });
  }

  #set(change: Partial<ChatSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

function chatOf(chat: ChatState, { values, error }: Thread): ChatState {
  return { ...withValues(chat, values), error: error ? errorText(error) : undefined };
}
