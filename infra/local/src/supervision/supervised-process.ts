import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process that the supervisor started, and the two ways it ends. */
export class SupervisedProcess {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves when the process has ended; `ended` then has the same value. */
  readonly exited: Promise<ProcessEnd>;
  ended: ProcessEnd | null = null;
  readonly #target: number;
  readonly #stopSignal: NodeJS.Signals;

  /** @param target what signals are sent to: the process id, or the negative one for its group */
  constructor(
    name: string,
    child: ChildProcess,
    { pid, target, stopSignal }: { pid: number; target: number; stopSignal: NodeJS.Signals },
  ) {
    this.name = name;
    this.child = child;
    this.pid = pid;
    this.#target = target;
    this.#stopSignal = stopSignal;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.ended = { code, signal };
        resolve(this.ended);
      });
    });
  }

  /** Signals the process to end and waits for it; after `graceMs` it is killed. Returns whether it ended by itself. */
  async stop(graceMs: number): Promise<boolean> {
    if (this.ended) return true;
    this.#signal(this.#stopSignal);
    const waiting = new AbortController();
    const inTime = await Promise.race([
      this.exited.then(() => true),
      pause(graceMs, false, { signal: waiting.signal }).catch(() => true),
    ]);
    waiting.abort();
    // The rest of a group may outlive the process that began it.
    if (!inTime || this.#target < 0) this.#signal('SIGKILL');
    await this.exited;
    return inTime;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(this.#target, signal);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
