/**
 * Sends calls in the order they were made, although each is prepared first: a large value takes longer to serialize
 * than a small one after it. Preparation starts at once, so it sees the values as they were at the call.
 *
 * After a preparation has failed, later calls are refused with the same error. The other side thus receives a prefix of
 * the calls, never a list with a gap.
 */
export class CallOrder {
  #last: Promise<unknown> = Promise.resolve();

  /** Calls `send` once every earlier call has been sent. Does not wait for the results of earlier sends. */
  call<Prepared, Result>(prepared: Promise<Prepared>, send: (prepared: Prepared) => Promise<Result>): Promise<Result> {
    prepared.catch(() => undefined);
    const sent = this.#last.then(async () => {
      const ready = await prepared;
      // The promise is wrapped, because a promise that is returned directly would be awaited.
      return { result: send(ready) };
    });
    this.#last = sent;
    return sent.then(({ result }) => result);
  }
}
