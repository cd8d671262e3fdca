import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '@runyard/deadline';
import type { Logger } from '@runyard/service-kit';
import { StartFailure } from '../driver.ts';
import { type ChildExit, describeExit, type Launched } from './child.ts';
import { checkHealth, untilHealthy } from './health-check.ts';

/** Where a service answers this process and the gateway. */
export interface Place {
  /** A name or an address. */
  host: string;
  port: number;
}

export interface KeptServiceOptions {
  /** `agent-api` or `run-worker`. */
  name: string;
  /** Where it can answer: another place for each launch. */
  findPlace(): Promise<Place>;
  launch(place: Place): Launched;
  /** The base URL while it is healthy, null while it is not. */
  onUrl(url: string | null): void;
  logger: Logger;
  timings?: Partial<KeepingTimings>;
}

export interface KeepingTimings {
  /** Pause before the first restart; doubles with each crash in a row. */
  firstBackoffMs: number;
  longestBackoffMs: number;
  /** A service healthy for this long has recovered: its next crash is a first one again. */
  recoveredAfterMs: number;
  /** A restart that is not healthy by then is tried anew. */
  restartTimeoutMs: number;
  livenessEveryMs: number;
  /** This many liveness checks in a row without an answer end the process. */
  livenessFailures: number;
}

const TIMINGS: KeepingTimings = {
  firstBackoffMs: 250,
  longestBackoffMs: 30_000,
  recoveredAfterMs: 60_000,
  restartTimeoutMs: 120_000,
  livenessEveryMs: 10_000,
  livenessFailures: 6,
};

/** Why the start of a service was given up. */
const GIVEN_UP = new Error('given up');

/**
 * One service process that is kept running: `start` brings it up, and from then on a crash or a long silence is followed by a
 * restart on another port, with growing pauses, until `stop`.
 */
export class KeptService {
  readonly #options: KeptServiceOptions;
  readonly #timings: KeepingTimings;
  readonly #stopping = new AbortController();
  #child: Launched | undefined;
  #restarts = 0;
  #keeping: Promise<void> | undefined;

  constructor(options: KeptServiceOptions) {
    this.#options = options;
    this.#timings = { ...TIMINGS, ...options.timings };
  }

  /** Of the process that runs at the moment, if it is one of this machine. */
  get pid(): number | undefined {
    return this.#child?.exit ? undefined : this.#child?.pid;
  }

  /** How often it ended unasked and came up again. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Starts it and resolves when it is healthy. On rejection it is not running.
   *
   * @throws StartFailure when it ends instead, or is not healthy when the signal says it is time
   */
  async start(signal: AbortSignal): Promise<void> {
    const { name } = this.#options;
    const outcome = await this.#launch(AbortSignal.any([signal, this.#stopping.signal]));
    if (outcome.healthy) {
      this.#keeping = this.#keep(outcome.child);
      return;
    }
    await outcome.child.stop(0);
    if (outcome.exit) throw new StartFailure(`${name} ${describeExit(outcome.exit)} before it was healthy`);
    throw new StartFailure(`${name} was not healthy in time: ${outcome.finding}`);
  }

  /** Ends it for good, by force after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort(GIVEN_UP);
    await this.#child?.stop(graceMs);
    await this.#keeping;
  }

  async #keep(first: Launched): Promise<void> {
    const { onUrl } = this.#options;
    let child: Launched | undefined = first;
    let crashes = 0;
    while (child) {
      const healthyAt = performance.now();
      const exit = await child.exited;
      onUrl(null);
      if (performance.now() - healthyAt > this.#timings.recoveredAfterMs) crashes = 0;
      for (child = undefined; !child && !this.#stopping.signal.aborted; crashes += 1) {
        child = await this.#restart(describeExit(exit), crashes);
      }
    }
  }

  /** One attempt, after the pause that so many crashes call for; undefined when it does not come up. */
  async #restart(reason: string, crashes: number): Promise<Launched | undefined> {
    const { name, logger } = this.#options;
    const { firstBackoffMs, longestBackoffMs, restartTimeoutMs } = this.#timings;
    const inMs = Math.min(firstBackoffMs * 2 ** crashes, longestBackoffMs);
    logger.warn('a process of a deployment ended and is started again', { process: name, reason, inMs });
    try {
      await pause(inMs, undefined, { signal: this.#stopping.signal });
      const outcome = await withDeadline(this.#stopping.signal, restartTimeoutMs, (signal) => this.#launch(signal));
      if (outcome.healthy) {
        this.#restarts += 1;
        return outcome.child;
      }
      await outcome.child.stop(0);
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        logger.error('a process of a deployment could not be started', { process: name, error });
    }
    return undefined;
  }

  /** Launches it and waits until it is healthy, has ended, or the signal says to give up. */
  async #launch(
    signal: AbortSignal,
  ): Promise<
    { healthy: true; child: Launched } | { healthy: false; child: Launched; exit?: ChildExit; finding: string }
  > {
    const { findPlace, launch, onUrl } = this.#options;
    const place = await findPlace();
    signal.throwIfAborted();
    const url = `http://${place.host}:${place.port}`;
    const child = launch(place);
    this.#child = child;
    const ended = new AbortController();
    void child.exited.then(() => ended.abort());
    let finding = 'it does not answer';
    try {
      await untilHealthy(url, AbortSignal.any([signal, ended.signal]), (latest) => {
        finding = latest;
      });
    } catch {
      return { healthy: false, child, exit: child.exit, finding };
    }
    onUrl(url);
    void this.#checkLiveness(child, url, ended.signal);
    return { healthy: true, child };
  }

  /** Ends a process that lives and yet has not answered for a long time: its exit is then handled as a crash. */
  async #checkLiveness(child: Launched, url: string, ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, this.#stopping.signal]);
    let failures = 0;
    while (failures < this.#timings.livenessFailures) {
      const isOver = await pause(this.#timings.livenessEveryMs, false, { signal }).catch(() => true);
      if (isOver) return;
      failures = (await checkHealth(url, signal, '/ok')) === null ? 0 : failures + 1;
      if (signal.aborted) return;
    }
    this.#options.logger.warn('a process of a deployment does not answer and is ended', {
      process: this.#options.name,
    });
    child.kill();
  }
}
