import type { LiveResponse } from './live-response.ts';

/** The answers under way in this process, so that a stop can cut them: their clients go on elsewhere. */
export class OpenResponses {
  readonly #open = new Set<LiveResponse>();
  #cut = false;
  #stalled = 0;

  /** The returned function tells whether the service itself has cut the answer. */
  add(response: LiveResponse): () => boolean {
    if (this.#cut) response.cut();
    else {
      this.#open.add(response);
      response.closed.addEventListener(
        'abort',
        () => {
          this.#open.delete(response);
          if (response.wasStalled) this.#stalled += 1;
        },
        { once: true },
      );
    }
    return () => this.#cut;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Clients so far that were cut because they took nothing any more. */
  get stalled(): number {
    return this.#stalled;
  }

  cutAll(): void {
    this.#cut = true;
    for (const response of this.#open) response.cut();
  }
}
