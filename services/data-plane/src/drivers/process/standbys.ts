import type { Child } from './child.ts';

/** Milliseconds after which a process ends that nobody has needed: it holds memory. */
const IDLE_MS = 10 * 60_000;

/** Processes that are started before they are needed, one for each deployment. They end with this one. */
export class Standbys {
  readonly #start: () => Child;
  readonly #idleMs: number;
  readonly #waiting = new Map<string, { child: Child; idle: NodeJS.Timeout }>();

  constructor(start: () => Child, idleMs = IDLE_MS) {
    this.#start = start;
    this.#idleMs = idleMs;
  }

  /** Starts a process for the next need of the deployment, unless one is there. */
  keep(deploymentId: string): void {
    if (this.#waiting.has(deploymentId)) return;
    const child = this.#start();
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
