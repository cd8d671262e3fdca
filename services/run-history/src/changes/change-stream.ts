import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunsChanged } from '@runyard/contracts';
import { formatSseEvent, LiveResponse, SSE_HEADERS, SSE_HEARTBEAT } from '@runyard/service-kit';

export interface ChangeStreamOptions {
  /** Returns those of the deployments that the caller may see now. @throws Error when nobody can say it */
  findVisible(deploymentIds: string[]): Promise<string[]>;
  /** The deployments that the client asks for; undefined: all. */
  deploymentIds: ReadonlySet<string> | undefined;
  /** Is called when changes are held back, because nobody can say which of them the caller may see. */
  onHeldBack(error: unknown): void;
  /** Milliseconds between two events at least. */
  eventEveryMs?: number;
  /** Milliseconds after which it ends. */
  lifetimeMs?: number;
  /** Milliseconds without a read after which its client is cut. */
  stalledMs?: number;
}

const EVENT_EVERY_MS = 500;
const LIFETIME_MS = 5 * 60_000;
/** A client that is gone without a word is cut: its place is for others. */
const STALLED_MS = 60_000;
const RETRY_MS = 2_000;

/**
 * One client's stream of hints. Changes gather, as ids without repetition, while the last event is too recent, while the
 * client is slow, and while nobody can say what the caller may see: so the memory of a stream is bounded.
 *
 * It ends after some minutes: the token of its caller says whether access policies concern the caller, and the client's
 * next request brings a new one.
 */
export class ChangeStream {
  readonly #response: LiveResponse;
  readonly #options: ChangeStreamOptions;
  readonly #pending = new Set<string>();
  /** Aborts when the stream has ended, or its client has left. */
  readonly #closing = new AbortController();
  readonly #end: NodeJS.Timeout;
  #isSending = false;
  /** Resolves when the client has caught up; undefined while it keeps up. */
  #drained: Promise<void> | undefined;
  /** The time at which the next event may be sent. */
  #nextAt = 0;

  /** Sends the headers, and the event that says that the stream listens. */
  constructor(res: ServerResponse, options: ChangeStreamOptions) {
    const { lifetimeMs = LIFETIME_MS, stalledMs = STALLED_MS } = options;
    this.#options = options;
    this.#response = new LiveResponse(res, SSE_HEADERS, { heartbeat: SSE_HEARTBEAT, stalledMs });
    // Streams that began together, after a start of the service, do not end together.
    this.#end = setTimeout(() => this.end(), lifetimeMs * (0.8 + Math.random() * 0.4));
    const { closed } = this.#response;
    if (closed.aborted) this.#release();
    else closed.addEventListener('abort', () => this.#release());
    this.#write('ready', {});
  }

  /** Takes changes of deployments of the caller's workspace, to be sent as soon as they may. */
  hear(deploymentIds: readonly string[]): void {
    if (this.#closing.signal.aborted) return;
    const { deploymentIds: asked } = this.#options;
    for (const id of deploymentIds) if (!asked || asked.has(id)) this.#pending.add(id);
    void this.#sendPending();
  }

  /** Ends the stream in order. */
  end(): void {
    if (this.#closing.signal.aborted) return;
    this.#release();
    this.#response.end();
  }

  async #sendPending(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#pending.size > 0 && !this.#closing.signal.aborted) {
      await this.#pauseUntil(this.#nextAt);
      await this.#drained;
      if (this.#closing.signal.aborted) break;
      await this.#sendOnce();
    }
    this.#isSending = false;
  }

  /** Sends one event with what is pending, if the caller may see some of it. */
  async #sendOnce(): Promise<void> {
    const { findVisible, onHeldBack, eventEveryMs = EVENT_EVERY_MS } = this.#options;
    const ids = [...this.#pending];
    this.#pending.clear();
    try {
      const visible = await findVisible(ids);
      if (visible.length > 0) this.#write('runs_changed', { deployment_ids: visible } satisfies RunsChanged);
      this.#nextAt = performance.now() + eventEveryMs;
    } catch (error) {
      for (const id of ids) this.#pending.add(id);
      onHeldBack(error);
      this.#nextAt = performance.now() + RETRY_MS;
    }
  }

  #write(event: string, data: object): void {
    if (this.#closing.signal.aborted) return;
    this.#drained = this.#response.write(formatSseEvent({ event, data: JSON.stringify(data) }));
  }

  async #pauseUntil(time: number): Promise<void> {
    const waitMs = time - performance.now();
    // It rejects when the stream has closed.
    if (waitMs > 0) await pause(waitMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }

  #release(): void {
    clearTimeout(this.#end);
    this.#pending.clear();
    this.#closing.abort();
  }
}
