import type { Logger } from '@runyard/service-kit';

/** How far a part of the desired state is. */
export type Progress =
  /** Nothing is left to do for this version. */
  | { settled: number }
  /** Milliseconds until the next look. */
  | { againMs: number };

export interface AppliedStateOptions {
  /** Names the part in the log. */
  name: string;
  /**
   * Applies what is desired now, and reports how far that is.
   *
   * @param settled the version with which nothing was left to do; undefined: none
   */
  look(settled: number | undefined): Promise<Progress | undefined>;
  logger: Logger;
}

/** Milliseconds until a look that failed is repeated. */
const RETRY_MS = 1_000;

/**
 * Applies a part of the desired state of one deployment to its own database, again and again until nothing is left to
 * do. It works beside roll-outs, which may take minutes.
 */
export class AppliedState {
  readonly #options: AppliedStateOptions;
  #applying: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #settled: number | undefined;
  #isStopped = false;

  constructor(options: AppliedStateOptions) {
    this.#options = options;
  }

  /** Applies what is desired now. Calls are serialized. Never rejects: what fails is tried again. */
  apply(): Promise<void> {
    this.#applying = this.#applying.then(() => this.#apply());
    return this.#applying;
  }

  /** Applies it again: the tables of the database may be new. */
  reapply(): Promise<void> {
    this.#settled = undefined;
    return this.apply();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #apply(): Promise<void> {
    const { name, look, logger } = this.#options;
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    let againMs = RETRY_MS;
    try {
      const progress = await look(this.#settled);
      if (!progress) return;
      if ('settled' in progress) {
        this.#settled = progress.settled;
        return;
      }
      againMs = progress.againMs;
    } catch (error) {
      logger.warn(`${name} not reported, will retry`, { error });
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.apply(), againMs).unref();
  }
}
