/** Random choices that are the same for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a source of its own, so that one part's choices do not depend on how many another made. */
  fork(name: string): Random {
    let hash = this.#state ^ 0x9e3779b9;
    for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x85ebca6b) >>> 0;
    return new Random(hash);
  }

  /** Returns a number of at least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer; both bounds are included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.integer(0, list.length - 1)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let index = shuffled.length - 1; index > 0; index -= 1) {
      const other = this.integer(0, index);
      [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T];
    }
    return shuffled;
  }
}
