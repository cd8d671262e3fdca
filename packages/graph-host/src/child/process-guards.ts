/** Keeps one run's misbehaviour from ending the others, and the process from outliving its parent. */
import { Worker } from 'node:worker_threads';
import type { HostLog } from '../types.ts';
import { type PrintContext, printContext } from './console.ts';
import { errorBody } from './error-body.ts';

/** The project wanted to end the process, which is not its own. */
export class ProcessExitError extends Error {
  constructor(code: unknown) {
    super(`The project called process.exit(${code ?? ''}), which would end every run of this process`);
    this.name = 'ProcessExitError';
  }
}

/** Thrown where nobody could catch it: in a timer or a listener. What waited for that code would wait for ever. */
export class UncaughtExceptionError extends Error {
  constructor(thrown: unknown) {
    const { error, message } = errorBody(thrown);
    super(`${error}: ${message}`, { cause: thrown });
    this.name = 'UncaughtExceptionError';
  }
}

export interface KeepAliveOptions {
  log(line: HostLog): void;
  /** Code of this run, if that is known, threw where nobody could catch it. */
  onUncaught(error: Error, run: PrintContext | undefined): void;
}

/**
 * Errors nobody caught end no other run: a rejection is logged, an exception is also its run's own end. Signals of a terminal's
 * process group are the parent's to handle. Returns the real `process.exit`; user code gets one that only throws.
 */
export function keepAlive({ log, onUncaught }: KeepAliveOptions): (code: number) => never {
  const tell = (what: string, error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log({ level: 'error', message: `${what}: ${text}`, ...printContext() });
  };
  process.on('unhandledRejection', (error) => tell('Unhandled rejection in the project', error));
  process.on('uncaughtException', (error) => {
    tell('Uncaught exception in the project', error);
    onUncaught(error instanceof ProcessExitError ? error : new UncaughtExceptionError(error), printContext());
  });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  const exit = process.exit.bind(process);
  process.exit = ((code?: number) => {
    throw new ProcessExitError(code);
  }) as typeof process.exit;
  return exit;
}

/**
 * The closed connection ends this process, unless user code keeps its event loop busy. A thread of its own sees the parent
 * go also then.
 */
export function endWithParent(): void {
  const source = `
    const parent = ${process.ppid};
    setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 1000);
  `;
  new Worker(source, { eval: true, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
}
