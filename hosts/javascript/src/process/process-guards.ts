/** Keeps one run's misbehaviour from ending other runs, and the process from outliving its parent. */
import { Worker } from 'node:worker_threads';
import type { HostLog } from '@runyard/host-protocol/graph-process';
import { errorBody } from '../wire/error-body.ts';
import { type PrintContext, printContext } from './console.ts';

/** The project tried to end the process, which all runs share. */
class ProcessExitError extends Error {
  constructor(code: unknown) {
    super(`The project called process.exit(${code ?? ''}), which would end every run of this process`);
    this.name = 'ProcessExitError';
  }
}

/**
 * Code threw where nobody could catch it: in a timer or a listener. Whatever waited for that code would wait for ever.
 */
class UncaughtExceptionError extends Error {
  constructor(thrown: unknown) {
    const { error, message } = errorBody(thrown);
    super(`${error}: ${message}`, { cause: thrown });
    this.name = 'UncaughtExceptionError';
  }
}

export interface ProcessGuardOptions {
  log(line: HostLog): void;
  /** Is called when code threw where nobody could catch it; `run` is the run of that code, if known. */
  onUncaught(error: Error, run: PrintContext | undefined): void;
}

/**
 * Keeps the process alive after errors that nobody caught: a rejection is logged, an exception also ends its own run.
 * The parent handles signals of a terminal's process group. Returns the real `process.exit`; user code gets one that
 * only throws.
 */
export function guardProcess({ log, onUncaught }: ProcessGuardOptions): (code: number) => never {
  const logError = (what: string, error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log({ level: 'error', message: `${what}: ${text}`, ...printContext() });
  };
  process.on('unhandledRejection', (error) => logError('Unhandled rejection in the project', error));
  process.on('uncaughtException', (error) => {
    logError('Uncaught exception in the project', error);
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
 * Ends this process when its parent ends. The closed connection does so too, unless user code keeps the event loop
 * busy; a separate thread notices the end of the parent also then.
 */
export function endWithParent(): void {
  const source = `
    const parent = ${process.ppid};
    setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 1000);
  `;
  new Worker(source, { eval: true, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
}
