import type { Child } from './child.ts';

/** Milliseconds after which a process ends that nobody has needed: it holds memory. */
const IDLE_MS = 10 * 60_000;

/** The number of processes that wait at once. */
const WAITING_MAX = 4;

/** Processes that are started before they are needed, at most one for each deployment. They end with this one. */
export class Standbys {
  readonly #start: () => Child;
  readonly #idleMs: number;
  readonly #waiting = new Map<string, { child: Child; idle: NodeJS.Timeout }>();

  constructor(start: () => Child, idleMs = IDLE_MS) {
    this.#start = start;
    this.#idleMs = idleMs;
  }

  /** Starts a process for the next need of the deployment, unless one is there or too many are. */
  keep(deploymentId: string): void {
    if (this.#waiting.has(deploymentId) || this.#waiting.size >= WAITING_MAX) return;
    let child: Child;
    try {
      child = this.#start();
    } catch {
      // The machine has no room for it: whoever needs a process starts one, or says so.
      return;
    }
    const idle = setTimeout(() => this.end(deploymentId), this.#idleMs).unref();
    this.#waiting.set(deploymentId, { child, idle });
    void child.exited.then(() => {
      if (this.#waiting.get(deploymentId)?.child === child) this.take(deploymentId);
    });
  }

  /** Returns the process that waits, which is the caller's from now on. */
  take(deploymentId: string): Child | undefined {
    const waiting = this.#waiting.get(deploymentId);
    this.#waiting.delete(deploymentId);
    clearTimeout(waiting?.idle);
    return waiting?.child;
  }

  end(deploymentId: string): void {
    this.take(deploymentId)?.kill();
  }
}
