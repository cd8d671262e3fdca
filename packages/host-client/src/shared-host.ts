import { EventEmitter, once } from 'node:events';
import type { Loopback } from '@runyard/host-protocol';
import type { GraphHost } from './types.ts';

/**
 * The graph host of a server and a worker that run in one process. The worker keeps it alive and executes runs in it;
 * the server asks the same one. Each waits here for what the other opens.
 */
export class SharedHost {
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #loopback: Loopback | undefined;
  readonly #closings: (() => unknown)[] = [];
  #current: () => GraphHost | undefined = () => undefined;
  #isServed = false;
  /** There once the worker takes runs. */
  #wakeWorker: (() => boolean) | undefined;

  /** The server gives the socket on which it answers the project's code. */
  offerLoopback(loopback: Loopback): void {
    this.#loopback = loopback;
    this.#changes.emit('change');
  }

  /** Returns the server's socket, as soon as it is open. @throws Error named AbortError */
  loopback(signal: AbortSignal): Promise<Loopback> {
    return this.#until(() => this.#loopback, signal);
  }

  /** The worker gives what finds the host for new runs; there is none while it is replaced. */
  offerHosts(current: () => GraphHost | undefined): void {
    this.#current = current;
  }

  /** The worker says that there is a host for new runs again. */
  hostReady(): void {
    this.#changes.emit('change');
  }

  /** The worker leaves it to the server to close the host and what belongs to it, after its own last answer. */
  onStop(_name: string, close: () => unknown): void {
    this.#closings.push(close);
  }

  /** Closes what was opened last first. */
  async close(): Promise<void> {
    for (let close = this.#closings.pop(); close; close = this.#closings.pop()) await close();
  }

  /** The server says that it answers the project's code from now on. */
  serverReady(): void {
    this.#isServed = true;
    this.#changes.emit('change');
  }

  /** Resolves when the server answers the project's code. @throws Error named AbortError */
  async served(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#isServed || undefined, signal);
  }

  /**
   * The worker says that it takes runs from now on.
   *
   * @param wake has it look for runs at once; false when it has no room for one
   */
  workerReady(wake: () => boolean): void {
    this.#wakeWorker = wake;
    this.#changes.emit('change');
  }

  /** Has the worker look for runs at once; false when it has no room for one, or is not there. */
  wakeWorker(): boolean {
    return this.#wakeWorker?.() ?? false;
  }

  /** Resolves when the worker takes runs. @throws Error named AbortError */
  async started(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#wakeWorker, signal);
  }

  /** The host for new runs; undefined while there is none. */
  get host(): GraphHost | undefined {
    return this.#current();
  }

  /** Returns the host for new runs, as soon as there is one. @throws Error named AbortError */
  current(signal: AbortSignal): Promise<GraphHost> {
    return this.#until(() => this.#current(), signal);
  }

  async #until<T>(find: () => T | undefined, signal: AbortSignal): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await once(this.#changes, 'change', { signal });
    }
  }
}
