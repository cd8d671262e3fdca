/**
 * Sends calls on in the order they were made although each is first prepared at its own pace: a large value takes longer to
 * serialize than the small one called after it. Preparation starts at once, so it sees the values as they were at the call.
 *
 * After a preparation has failed, later calls are refused with the same error: what reaches the other side is a prefix of what
 * was called, never a list with a hole.
 */
export class CallOrder {
  #last: Promise<unknown> = Promise.resolve();

  /** Calls `send` once everything called before has been sent. Does not wait for what the earlier sends come to. */
  call<Prepared, Result>(prepared: Promise<Prepared>, send: (prepared: Prepared) => Promise<Result>): Promise<Result> {
    prepared.catch(() => undefined);
    const sent = this.#last.then(async () => {
      const ready = await prepared;
      // Wrapped, because a promise returned as it is would be waited for.
      return { result: send(ready) };
    });
    this.#last = sent;
    return sent.then(({ result }) => result);
  }
}
