import { setTimeout as pause } from 'node:timers/promises';
import { InfrastructureError } from '@runyard/local-infra';
import type { Progress } from '../progress.ts';
import { type ProcessOptions, ServiceEndedError, type ServiceProcess, startProcess } from './service-process.ts';

/**
 * Milliseconds of the pauses before the first, second, … restart. One more end than this and the service is given up.
 */
const pausesMs = [250, 500, 1_000, 2_000, 4_000];
/** Milliseconds after which a service has recovered: its next end is a first one again. */
const recoveredMs = 60_000;

const NOT_NEEDED_YET = new Error('it was not needed yet');

export interface SupervisionOptions extends ProcessOptions {
  progress: Progress;
  /**
   * Resolves when a service that is not running, since it was never needed or has ended by itself without an error, has
   * something to do, or the signal aborts. Undefined for a service that always runs.
   */
  untilNeeded?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Starts a service and restarts it, on the same port, whenever it ends unasked: at once after a failure, of which each is
 * reported in one line, and when it is needed. A service that always runs and does not come up the first time is not
 * retried: the person who starts it has to know.
 */
export async function superviseService(options: SupervisionOptions): Promise<ServiceProcess> {
  const { name, progress, untilNeeded } = options;
  const stopping = new AbortController();
  const start = () => startProcess({ ...options, stopping: stopping.signal });
  let starting = untilNeeded ? undefined : start();
  let current = await starting;

  const unexpectedEnd = restartForever();
  unexpectedEnd.catch(() => {}); // Whoever awaits it gets the rejection; before that it must not end the process.

  async function restartForever(): Promise<never> {
    let ends = 0;
    let startedAt = Date.now();
    for (;;) {
      const end = current ? await endOf(current) : NOT_NEEDED_YET;
      current = undefined;
      if (stopping.signal.aborted) return new Promise(() => {});
      if (untilNeeded && isIdle(end)) {
        await untilNeeded(stopping.signal);
        if (stopping.signal.aborted) return new Promise(() => {});
        startedAt = Date.now();
        starting = start().catch((error: Error) => createFailedService(name, error));
        current = await starting;
        continue;
      }
      if (Date.now() - startedAt > recoveredMs) ends = 0;
      const pauseMs = pausesMs[ends];
      ends += 1;
      if (pauseMs === undefined) throw new InfrastructureError(`${name} ended ${ends} times in a row. ${end.message}`);
      const how = end instanceof ServiceEndedError ? `${end.how}; see ${end.logFile}` : end.message;
      progress.step(`${name} ended (${how}) and is started again in ${pauseMs} ms`);
      await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return new Promise(() => {});
      startedAt = Date.now();
      starting = start().catch((error: Error) => createFailedService(name, error));
      current = await starting;
      if (current.pid !== undefined) progress.done(`${name} is back`);
    }
  }

  return {
    name,
    get pid() {
      return current?.pid;
    },
    unexpectedEnd,
    async stop() {
      stopping.abort();
      // This also stops one that is just starting, which gives up and ends its processes.
      await (await starting)?.stop();
    },
  };
}

/** Returns how it ended: a service that was never up ends with the reason of that. */
async function endOf(service: ServiceProcess): Promise<Error> {
  return await service.unexpectedEnd.catch((error: Error) => error);
}

function isIdle(end: Error): boolean {
  return end === NOT_NEEDED_YET || (end instanceof ServiceEndedError && end.how === '0');
}

/** Returns a placeholder for a failed start, which counts as an end. */
function createFailedService(name: string, error: Error): ServiceProcess {
  const unexpectedEnd = Promise.reject(error);
  unexpectedEnd.catch(() => {});
  return { name, pid: undefined, unexpectedEnd, stop: async () => {} };
}
