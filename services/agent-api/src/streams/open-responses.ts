import type { Continuation, LiveResponse } from '@runyard/service-kit';

/** The ways to end an answer when the process stops before it is complete. */
export interface StopBehavior {
  /** Returns the continuation; undefined when nobody takes the answer over. */
  continuation?: (() => Continuation | undefined) | undefined;
  /** True when its client knows its position, and resumes from there elsewhere. */
  isResumable?: boolean;
}

/** Holds the answers in flight in this process, so that a stop can end them without a loss. */
export class OpenResponses {
  readonly #open = new Map<LiveResponse, StopBehavior>();
  readonly #ended = new WeakSet<LiveResponse>();
  #isEnding = false;
  #lastTimer: NodeJS.Timeout | undefined;
  #stalled = 0;

  /** Returns a function that says whether the service itself has ended the answer. */
  add(response: LiveResponse, behavior: StopBehavior = {}): () => boolean {
    // The client may have left while its request was prepared: nothing would ever remove its answer.
    if (response.closed.aborted) return () => false;
    this.#open.set(response, behavior);
    response.closed.addEventListener(
      'abort',
      () => {
        this.#open.delete(response);
        if (this.#open.size === 0) clearTimeout(this.#lastTimer);
        if (response.wasStalled) this.#stalled += 1;
      },
      { once: true },
    );
    if (this.#isEnding) this.#end(response, behavior);
    return () => this.#ended.has(response);
  }

  get size(): number {
    return this.#open.size;
  }

  /** The number of clients so far that were cut because they read nothing any more. */
  get stalled(): number {
    return this.#stalled;
  }

  /**
   * Hands off the answers that somebody takes over, and breaks off those that their client resumes elsewhere, both
   * between two events. Other answers may complete within the time given.
   */
  endAll(graceMs: number): void {
    this.#isEnding = true;
    for (const [response, behavior] of [...this.#open]) this.#end(response, behavior);
    if (this.#open.size === 0) return;
    this.#lastTimer = setTimeout(() => {
      for (const response of [...this.#open.keys()]) this.#breakOff(response);
    }, graceMs);
  }

  #end(response: LiveResponse, { continuation, isResumable = false }: StopBehavior): void {
    const next = continuation?.();
    if (next) {
      this.#ended.add(response);
      response.handOff(next);
    } else if (isResumable) this.#breakOff(response);
  }

  #breakOff(response: LiveResponse): void {
    this.#ended.add(response);
    response.breakOff();
  }
}
