import type { Duty } from './duty.ts';

export interface DutyRoundsOptions {
  duty: Pick<Duty, 'isMine' | 'release'>;
  everyMs: number;
  /** True when `start` runs the first round, instead of an interval later. */
  atStart?: boolean;
  /** Runs one round of the work. Long rounds check the lease and `isClosing` between their parts. */
  round: (rounds: DutyRounds) => Promise<void>;
  /** Is called when a round failed; the next one runs as usual. */
  onError: (error: unknown) => void;
}

/** Number of intervals after which another process takes over from a dead lease owner. */
const INTERVALS_PER_LEASE = 1.5;
const LEASE_MS_MIN = 60_000;
/** Timers hold 31 bits of milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Returns the duration of the lease for such work in milliseconds. */
export function leaseMsOfRounds(everyMs: number): number {
  return Math.max(LEASE_MS_MIN, everyMs * INTERVALS_PER_LEASE);
}

/** Runs work at every interval in the one process that has the lease. Rounds never overlap. */
export class DutyRounds {
  readonly #options: DutyRoundsOptions;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #isClosing = false;

  constructor(options: DutyRoundsOptions) {
    this.#options = options;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  start(): void {
    if (this.#isClosing) return;
    const { everyMs, atStart = false } = this.#options;
    this.#timer ??= setInterval(() => this.#begin(), Math.min(everyMs, TIMER_MS_MAX));
    if (atStart) this.#begin();
  }

  /** Resolves when the running round has ended and the lease is free for another process. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await this.#underWay;
    await this.#options.duty.release().catch(() => undefined);
  }

  #begin(): void {
    this.#underWay ??= this.#round().finally(() => {
      this.#underWay = undefined;
    });
  }

  async #round(): Promise<void> {
    const { duty, round, onError } = this.#options;
    try {
      if (await duty.isMine()) await round(this);
    } catch (error) {
      onError(error);
    }
  }
}
