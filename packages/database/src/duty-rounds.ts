import type { Duty } from './duty.ts';

export interface DutyRoundsOptions {
  duty: Pick<Duty, 'isMine' | 'release'>;
  everyMs: number;
  /** The first round is made by `start`, not an interval later. */
  atStart?: boolean;
  /** One round of the work. Long ones ask the duty and `isClosing` between their pieces. */
  round: (rounds: DutyRounds) => Promise<void>;
  /** A round failed; the next one is made as usual. */
  onError: (error: unknown) => void;
}

/** A holder that is gone is succeeded after this many intervals. */
const INTERVALS_PER_LEASE = 1.5;
const LEASE_MS_MIN = 60_000;
/** Timers take 31 bits of milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** How long a lease on the duty of such work is to be. */
export function leaseMsOfRounds(everyMs: number): number {
  return Math.max(LEASE_MS_MIN, everyMs * INTERVALS_PER_LEASE);
}

/** Work that comes round at every interval and is done by one process of many: the one that has the duty. Never twice at once. */
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

  /** Resolves when the round under way is over and the duty is free for another process. */
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
