import type { Handover } from './handover.ts';
import type { LiveResponse } from './live-response.ts';

/** What becomes of an answer when the process stops before it is complete. */
export interface Ending {
  /** Where somebody who takes it over finds the rest; undefined when nobody does. */
  rest?: (() => Handover | undefined) | undefined;
  /** Its client knows how far it is, and goes on from there elsewhere. */
  isResumable?: boolean;
}

/** The answers under way in this process, so that a stop can end them without a loss. */
export class OpenResponses {
  readonly #open = new Map<LiveResponse, Ending>();
  readonly #ended = new WeakSet<LiveResponse>();
  #isEnding = false;
  #lastTimer: NodeJS.Timeout | undefined;
  #stalled = 0;

  /** The returned function tells whether the service itself has ended the answer. */
  add(response: LiveResponse, ending: Ending = {}): () => boolean {
    this.#open.set(response, ending);
    response.closed.addEventListener(
      'abort',
      () => {
        this.#open.delete(response);
        if (this.#open.size === 0) clearTimeout(this.#lastTimer);
        if (response.wasStalled) this.#stalled += 1;
      },
      { once: true },
    );
    if (this.#isEnding) this.#end(response, ending);
    return () => this.#ended.has(response);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Clients so far that were cut because they took nothing any more. */
  get stalled(): number {
    return this.#stalled;
  }

  /**
   * Hands over what somebody takes, and breaks off what its client goes on with elsewhere, both between two events. Other answers
   * may be completed within the time given.
   */
  endAll(graceMs: number): void {
    this.#isEnding = true;
    for (const [response, ending] of [...this.#open]) this.#end(response, ending);
    if (this.#open.size === 0) return;
    this.#lastTimer = setTimeout(() => {
      for (const response of [...this.#open.keys()]) this.#breakOff(response);
    }, graceMs);
  }

  #end(response: LiveResponse, { rest, isResumable = false }: Ending): void {
    const handover = rest?.();
    if (handover) {
      this.#ended.add(response);
      response.handOver(handover);
    } else if (isResumable) this.#breakOff(response);
  }

  #breakOff(response: LiveResponse): void {
    this.#ended.add(response);
    response.breakOff();
  }
}
