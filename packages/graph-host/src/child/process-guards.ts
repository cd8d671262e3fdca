/** Keeps one run's misbehaviour from ending the others, and the process from outliving its parent. */
import { Worker } from 'node:worker_threads';
import type { HostLog } from '../types.ts';

/**
 * Errors nobody caught are logged, not fatal: they belong to one run among many. Signals of a terminal's process group
 * are the parent's to handle. Returns the real `process.exit`; user code gets one that only complains.
 */
export function keepAlive(log: (line: HostLog) => void): (code: number) => never {
  const tell = (what: string) => (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log({ level: 'error', message: `${what}: ${text}` });
  };
  process.on('unhandledRejection', tell('Unhandled rejection in the project'));
  process.on('uncaughtException', tell('Uncaught exception in the project'));
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  const exit = process.exit.bind(process);
  process.exit = ((code?: number) => {
    throw new Error(`The project called process.exit(${code ?? ''}), which would end every run of this process`);
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
