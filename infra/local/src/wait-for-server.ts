import { setTimeout as pause } from 'node:timers/promises';
import { InfrastructureError, reasonOf } from './infrastructure-error.ts';
import { lastLines } from './last-lines.ts';
import type { SupervisedProcess } from './supervision/supervised-process.ts';

/** A server that was started here is of no use. */
export class ServerNotReadyError extends InfrastructureError {
  override name = 'ServerNotReadyError';
  /** The reason without the end of the log. */
  readonly summary: string;

  constructor(server: string, how: string, logFile: string, endOfLog: string) {
    super(`${server} ${how}; the end of ${logFile}:\n${endOfLog}`);
    this.summary = `it ${how}; see ${logFile}`;
  }
}

/** Retries until a server answers; throws with the end of its log when it ends first or the time has passed. */
export async function waitForServer(options: {
  server: SupervisedProcess;
  logFile: string;
  ask: () => Promise<unknown>;
  timeoutMs: number;
}): Promise<void> {
  const deadline = Date.now() + options.timeoutMs;
  for (;;) {
    try {
      await options.ask();
      return;
    } catch (error) {
      const ended = options.server.ended !== null;
      if (!ended && Date.now() < deadline) {
        await pause(25);
        continue;
      }
      const how = ended
        ? 'ended while starting'
        : `did not answer within ${options.timeoutMs / 1000} s (${reasonOf(error)})`;
      const log = await lastLines(options.logFile, 5);
      if (!ended) await options.server.stop(2_000);
      throw new ServerNotReadyError(options.server.name, how, options.logFile, log);
    }
  }
}
