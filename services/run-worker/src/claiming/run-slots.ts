/** The most runs in flight, per slot and in addition, when they wait for each other. Each is memory in a graph host. */
const IN_FLIGHT_PER_SLOT = 4;
const IN_FLIGHT_EXTRA = 8;

export interface RunSlotsOptions {
  /** The value of N_JOBS_PER_WORKER. */
  slots: number;
  inFlight(): number;
  /** Returns how many runs in flight wait for an answer of their own deployment. */
  waiting(): number;
}

/**
 * Decides how many runs may be begun. A run that waits for another run of its own deployment does nothing meanwhile, so
 * it lends its slot: otherwise runs that wait for runs that wait for a slot would wait for ever.
 *
 * Each slot is lent once to any run. Beyond that, slots go only to runs that are waited for, since the next in line may
 * be one that waits, too.
 */
export class RunSlots {
  readonly #options: RunSlotsOptions;

  constructor(options: RunSlotsOptions) {
    this.#options = options;
  }

  /** Slots for any run. */
  get free(): number {
    const { slots, inFlight, waiting } = this.#options;
    return Math.max(0, slots - inFlight() + this.#lent(waiting()));
  }

  /** Slots for runs that a run in flight waits for, when none is free for any. */
  get freeForAwaited(): number {
    const { slots, inFlight } = this.#options;
    return slots === 0 ? 0 : Math.max(0, slots * IN_FLIGHT_PER_SLOT + IN_FLIGHT_EXTRA - inFlight());
  }

  #lent(waiting: number): number {
    return Math.min(waiting, this.#options.slots);
  }
}
