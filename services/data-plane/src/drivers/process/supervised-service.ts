import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '@runyard/deadline';
import { RevisionStartError } from '@runyard/deployments';
import type { Logger } from '@runyard/service-kit';
import { type ChildExit, describeExit, type Launched } from './child.ts';
import { checkHealth, waitUntilHealthy } from './health-check.ts';

/** The address of a service for this process and the gateway. */
export interface ServiceAddress {
  /** A name or an address. */
  host: string;
  port: number;
  /** The port of the worker in the same process, which tells its metrics there. */
  workerPort?: number;
}

/** Returns the base URL of a service. */
export function urlOf({ host, port }: ServiceAddress): string {
  return `http://${host}:${port}`;
}

export interface SupervisedServiceOptions {
  /** `agent-api` or `run-worker`. */
  name: string;
  /** Finds an address for the next launch; each launch has another one. */
  findAddress(): Promise<ServiceAddress>;
  launch(address: ServiceAddress): Launched;
  /** Gets the address when the service becomes healthy, and null when it no longer is. */
  onAddress(address: ServiceAddress | null): void;
  logger: Logger;
  timings?: Partial<SupervisionTimings>;
}

export interface SupervisionTimings {
  /** Pause before the first restart; it doubles with each further crash in a row. */
  firstBackoffMs: number;
  longestBackoffMs: number;
  /** A service that was healthy for this long has recovered: its next crash counts as the first one. */
  recoveredAfterMs: number;
  /** A restart that is not healthy by then is repeated. */
  restartTimeoutMs: number;
  livenessEveryMs: number;
  /** The process is ended after this many failed liveness checks in a row. */
  livenessFailures: number;
}

const TIMINGS: SupervisionTimings = {
  firstBackoffMs: 250,
  longestBackoffMs: 30_000,
  recoveredAfterMs: 60_000,
  restartTimeoutMs: 120_000,
  livenessEveryMs: 10_000,
  livenessFailures: 6,
};

/** The reason for giving up the start of a service. */
const GIVEN_UP = new Error('given up');

/**
 * Supervises one service process: `start` starts it. From then on it is restarted on another port after every crash, or
 * when it is unresponsive for long, with growing pauses, until `stop`.
 */
export class SupervisedService {
  readonly #options: SupervisedServiceOptions;
  readonly #timings: SupervisionTimings;
  readonly #stopping = new AbortController();
  #child: Launched | undefined;
  #restarts = 0;
  #supervision: Promise<void> | undefined;

  constructor(options: SupervisedServiceOptions) {
    this.#options = options;
    this.#timings = { ...TIMINGS, ...options.timings };
  }

  /** The id of the current process, if it is one of this machine. */
  get pid(): number | undefined {
    return this.#child?.exit ? undefined : this.#child?.pid;
  }

  /** How many times it ended unexpectedly and was restarted. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Starts the service and resolves when it is healthy. After a rejection it is not running.
   *
   * @throws RevisionStartError when the process ends, or is not healthy when the signal aborts
   */
  async start(signal: AbortSignal): Promise<void> {
    const { name } = this.#options;
    const outcome = await this.#launch(AbortSignal.any([signal, this.#stopping.signal]));
    if (outcome.healthy) {
      this.#supervision = this.#supervise(outcome.child);
      return;
    }
    await outcome.child.stop(0);
    if (outcome.exit) throw new RevisionStartError(`${name} ${describeExit(outcome.exit)} before it was healthy`);
    throw new RevisionStartError(`${name} was not healthy in time: ${outcome.finding}`);
  }

  /** Ends the service for good, by force after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort(GIVEN_UP);
    await this.#child?.stop(graceMs);
    await this.#supervision;
  }

  async #supervise(first: Launched): Promise<void> {
    const { onAddress } = this.#options;
    let child: Launched | undefined = first;
    let crashes = 0;
    while (child) {
      const healthyAt = performance.now();
      const exit = await child.exited;
      onAddress(null);
      if (performance.now() - healthyAt > this.#timings.recoveredAfterMs) crashes = 0;
      for (child = undefined; !child && !this.#stopping.signal.aborted; crashes += 1) {
        child = await this.#restart(describeExit(exit), crashes);
      }
    }
  }

  /**
   * Makes one attempt after the pause for this number of crashes. Returns undefined when it does not become healthy.
   */
  async #restart(reason: string, crashes: number): Promise<Launched | undefined> {
    const { name, logger } = this.#options;
    const { firstBackoffMs, longestBackoffMs, restartTimeoutMs } = this.#timings;
    const inMs = Math.min(firstBackoffMs * 2 ** crashes, longestBackoffMs);
    logger.warn('process ended, will restart', { process: name, reason, inMs });
    try {
      await pause(inMs, undefined, { signal: this.#stopping.signal });
      const outcome = await withDeadline(this.#stopping.signal, restartTimeoutMs, (signal) => this.#launch(signal));
      if (outcome.healthy) {
        this.#restarts += 1;
        return outcome.child;
      }
      await outcome.child.stop(0);
    } catch (error) {
      if (!this.#stopping.signal.aborted) logger.error('process failed to start', { process: name, error });
    }
    return undefined;
  }

  /** Launches the process and waits until it is healthy, has ended, or the signal aborts. */
  async #launch(
    signal: AbortSignal,
  ): Promise<
    { healthy: true; child: Launched } | { healthy: false; child: Launched; exit?: ChildExit; finding: string }
  > {
    const { findAddress, launch, onAddress } = this.#options;
    const address = await findAddress();
    signal.throwIfAborted();
    const url = urlOf(address);
    const child = launch(address);
    this.#child = child;
    const ended = new AbortController();
    void child.exited.then(() => ended.abort());
    let finding = 'it does not answer';
    try {
      await waitUntilHealthy(url, AbortSignal.any([signal, ended.signal]), (latest) => {
        finding = latest;
      });
    } catch {
      return { healthy: false, child, exit: child.exit, finding };
    }
    onAddress(address);
    void this.#checkLiveness(child, url, ended.signal);
    return { healthy: true, child };
  }

  /** Ends a running process that failed its liveness checks. Its exit is then handled as a crash. */
  async #checkLiveness(child: Launched, url: string, ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, this.#stopping.signal]);
    let failures = 0;
    while (failures < this.#timings.livenessFailures) {
      const isOver = await pause(this.#timings.livenessEveryMs, false, { signal }).catch(() => true);
      if (isOver) return;
      failures = (await checkHealth(url, signal, '/ok')) === null ? 0 : failures + 1;
      if (signal.aborted) return;
    }
    this.#options.logger.warn('process unresponsive, ending it', {
      process: this.#options.name,
    });
    child.kill();
  }
}
