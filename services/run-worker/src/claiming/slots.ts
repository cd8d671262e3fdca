/** Runs in hand at most, for each slot and in all, when they wait for each other. Each is memory in a graph host. */
const IN_HAND_PER_SLOT = 4;
const IN_HAND_MORE = 8;

export interface SlotsOptions {
  /** N_JOBS_PER_WORKER. */
  slots: number;
  inHand(): number;
  /** Of those, how many wait for an answer of their own deployment. */
  waiting(): number;
}

/**
 * How many runs may be begun. A run that waits for another run of its own deployment does nothing meanwhile: it lends its slot,
 * or runs that wait for runs that wait for a slot would wait for ever.
 *
 * Slots that are lent once are anybody's. Beyond that they only go to what is waited for, since the next in line may be one that
 * waits, too.
 */
export class Slots {
  readonly #options: SlotsOptions;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** For any run. */
  get free(): number {
    const { slots, inHand, waiting } = this.#options;
    return Math.max(0, slots - inHand() + this.#lent(waiting()));
  }

  /** For runs that a run in hand waits for, when none is free for any. */
  get freeForAwaited(): number {
    const { slots, inHand } = this.#options;
    return slots === 0 ? 0 : Math.max(0, slots * IN_HAND_PER_SLOT + IN_HAND_MORE - inHand());
  }

  #lent(waiting: number): number {
    return Math.min(waiting, this.#options.slots);
  }
}
