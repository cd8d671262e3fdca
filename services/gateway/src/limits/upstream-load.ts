import { UnavailableError } from '@runyard/service-kit';

/** The upstream has enough to answer: nothing was sent to it. */
export class NoRoomError extends UnavailableError {
  constructor() {
    super('Too many requests wait for an answer at the moment', {
      retryAfterSeconds: 1,
      code: 'too_many_requests_of_upstream',
    });
  }
}

/**
 * Counts the requests of this replica that each upstream has not begun to answer. A process takes new connections one
 * by one, between other work: what it cannot keep up with waits in the system's queue before it, where it can neither
 * count nor refuse it. So the sender counts. An answer that has begun, as those of streams and of long waits do at
 * once, is no load.
 */
export class UpstreamLoad {
  readonly #maxUnanswered: number;
  readonly #unanswered = new Map<string, number>();

  /** @param options.maxUnanswered the limit of one upstream */
  constructor({ maxUnanswered }: { maxUnanswered: number }) {
    this.#maxUnanswered = maxUnanswered;
  }

  of(upstream: string): number {
    return this.#unanswered.get(upstream) ?? 0;
  }

  /** Returns the upstreams that take another request. @throws NoRoomError when none does */
  withRoom(upstreams: readonly string[]): string[] {
    const those = upstreams.filter((upstream) => this.#hasRoom(upstream));
    if (those.length === 0) throw new NoRoomError();
    return those;
  }

  /**
   * Counts a request. Returns a function to call, once or more, when its answer begins or will never come. @throws
   * NoRoomError
   */
  take(upstream: string): () => void {
    if (!this.#hasRoom(upstream)) throw new NoRoomError();
    this.#unanswered.set(upstream, this.of(upstream) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = this.of(upstream) - 1;
      if (left === 0) this.#unanswered.delete(upstream);
      else this.#unanswered.set(upstream, left);
    };
  }

  #hasRoom(upstream: string): boolean {
    return this.of(upstream) < this.#maxUnanswered;
  }
}
