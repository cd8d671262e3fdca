import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { eachLine } from '@runyard/revision-logs';

export interface ChildOptions {
  /** The entry file, executed by the same Node.js as this process. */
  entry: string;
  /** The whole environment: the child inherits nothing. */
  env: Record<string, string>;
  /** True when it has a grace of its own, which a second SIGTERM ends. */
  hasGrace?: boolean;
}

export interface ChildWork {
  /** Variables that must not be in an environment, where other processes of the same user could read them. */
  secrets: Record<string, string>;
  onLine(line: string, stream: 'stdout' | 'stderr'): void;
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Set when the process could not be started. */
  error?: Error;
}

/** The interface that supervision needs of a child process or container. */
export type Launched = Pick<Child, 'exited' | 'exit' | 'stop' | 'kill'> & Partial<Pick<Child, 'pid'>>;

const SECRETS_FD = 3;
const PARENT_FD = 4;

/** Milliseconds that a process may take to hand back what it has not finished, before it is killed. */
const HAND_BACK_MS = 3_000;

/**
 * One operating system process. It loads its code, and begins when it gets its secrets over a pipe. It holds the reading
 * end of another that this process never writes to: when this process ends, in whatever way, the child sees the pipe
 * close and stops.
 */
export class Child {
  readonly #process: ChildProcess;
  readonly #hasGrace: boolean;
  #onLine: ChildWork['onLine'] = () => undefined;
  #requests = 0;
  readonly exited: Promise<ChildExit>;
  #exit: ChildExit | undefined;

  constructor(options: ChildOptions) {
    this.#hasGrace = options.hasGrace ?? false;
    this.#process = spawn(process.execPath, ['--enable-source-maps', options.entry], {
      env: {
        ...options.env,
        RUNYARD_SECRETS_FD: String(SECRETS_FD),
        RUNYARD_PARENT_FD: String(PARENT_FD),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.exited = new Promise((resolve) => {
      const settle = (exit: ChildExit) => {
        this.#exit ??= exit;
        resolve(this.#exit);
      };
      this.#process.once('error', (error) => settle({ code: null, signal: null, error }));
      this.#process.once('exit', (code, signal) => settle({ code, signal }));
    });
    for (const stream of ['stdout', 'stderr'] as const) {
      eachLine(this.#process[stream] as Readable, (line) => this.#onLine(line, stream));
    }
    // A child that ended before reading has closed the pipe; its exit says why.
    this.#secrets.on('error', () => undefined);
    this.#process.stdio[PARENT_FD]?.on('error', () => undefined);
  }

  /** Hands over what it waits for. To be called once. */
  begin({ secrets, onLine }: ChildWork): this {
    this.#onLine = onLine;
    this.#secrets.end(JSON.stringify(secrets));
    return this;
  }

  get #secrets(): Writable {
    return this.#process.stdio[SECRETS_FD] as Writable;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  /**
   * Sends SIGTERM, and SIGKILL after `graceMs`. A process with a grace of its own is told before that it has to end.
   * Resolves when the process has ended.
   */
  async stop(graceMs: number): Promise<ChildExit> {
    if (this.#exit) return this.#exit;
    this.#request();
    const timers = [setTimeout(() => this.#process.kill('SIGKILL'), graceMs)];
    if (this.#hasGrace) timers.push(setTimeout(() => this.#request(), Math.max(0, graceMs - HAND_BACK_MS)));
    return this.exited.finally(() => timers.forEach(clearTimeout));
  }

  #request(): void {
    this.#requests += 1;
    // A third one would end a process with a grace before it has handed anything back.
    if (!this.#hasGrace || this.#requests <= 2) this.#process.kill('SIGTERM');
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** Describes an exit as a part of a sentence: `ended with code 1`. */
export function describeExit(exit: ChildExit): string {
  if (exit.error) return `could not be started: ${exit.error.message}`;
  if (exit.signal) return `was ended by ${exit.signal}`;
  return `ended with code ${exit.code}`;
}
