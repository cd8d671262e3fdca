/**
 * Gives results back in the order in which they were asked for, although one may take longer than those after it. After
 * a failure nothing more is given back: what is written would lack what failed.
 */
export class Turns {
  #last: Promise<unknown> | undefined;

  take<T>(result: T | Promise<T>): Promise<T> {
    const turn = Promise.all([result, this.#last]).then(([value]) => value);
    this.#last = turn;
    return turn;
  }
}
