import { setTimeout as pause } from 'node:timers/promises';
import { InfrastructureError, reasonOf } from './infrastructure-error.ts';
import { lastLines } from './last-lines.ts';
import type { SupervisedProcess } from './supervision/supervised-process.ts';

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
      throw new InfrastructureError(`${options.server.name} ${how}; the end of ${options.logFile}:\n${log}`);
    }
  }
}
