import type { Difference } from './compare.ts';

/** A difference from the public Python server that is meant to be. */
export interface IntendedDifference {
  /** The places that differ, as `Difference` names them. */
  places: RegExp;
  /** The requests in whose answers they are; default: all. */
  requests?: RegExp;
  /** The answer of the public server there; default: any. */
  theirs?: null | string;
  /** Tells why the platform answers otherwise. */
  reason: string;
}

/** Takes intended differences out of what was found, and remembers which of them are still there. */
export class IntendedDifferences {
  readonly #seen = new Set<IntendedDifference>();
  readonly #list: readonly IntendedDifference[];

  constructor(list: readonly IntendedDifference[]) {
    this.#list = list;
  }

  /** Returns what nobody intended. */
  without(differences: readonly Difference[]): Difference[] {
    return differences.filter((difference) => {
      const intended = this.#list.filter((each) => isCase(each, difference));
      for (const each of intended) this.#seen.add(each);
      return intended.length === 0;
    });
  }

  /** Returns the reasons of those that were in nothing so far. */
  stale(): string[] {
    return this.#list.filter((each) => !this.#seen.has(each)).map(({ reason }) => reason);
  }
}

function isCase({ places, requests, theirs }: IntendedDifference, difference: Difference): boolean {
  if (!places.test(difference.place) || requests?.test(difference.request) === false) return false;
  return theirs === undefined || theirs === difference.theirs;
}
