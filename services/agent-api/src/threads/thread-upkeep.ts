import { randomUUID } from 'node:crypto';
import { Duty } from '@runyard/database';
import type { ThreadRetentionSettings } from '@runyard/graph-host';
import type { RunEngine } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { ThreadSweeper } from './thread-sweeper.ts';

/** A holder of the duty that is gone is succeeded after this many intervals. */
const INTERVALS_PER_LEASE = 1.5;
const LEASE_MS_MIN = 60_000;

/** The sweeper of threads as the project's `langgraph.json` sets it. */
export function createThreadSweeper(options: {
  engine: Pick<RunEngine, 'histories'>;
  pool: pg.Pool;
  settings: ThreadRetentionSettings;
  onDeleted: (threadIds: string[]) => void;
  logger: Logger;
}): ThreadSweeper {
  const { engine, pool, settings, onDeleted, logger } = options;
  const { sweepEveryMs: everyMs, sweepLimit: limit } = settings;
  const leaseMs = Math.max(LEASE_MS_MIN, everyMs * INTERVALS_PER_LEASE);
  const duty = new Duty(pool, { name: 'thread sweep', holder: randomUUID(), leaseMs });
  return new ThreadSweeper({ histories: engine.histories, duty, onDeleted, logger, everyMs, limit });
}

/** What is to be done when threads are gone: whoever waits for a run of theirs looks, and their events go. */
export function afterDeletion(options: {
  streams: Pick<RunStreams, 'forget'>;
  tellWaiting: () => void;
  logger: Logger;
}): (threadIds: string[]) => void {
  return (threadIds) => {
    options.tellWaiting();
    // Without Redis they go by themselves when their time is over.
    Promise.all(threadIds.map((threadId) => options.streams.forget(threadId))).catch((error: unknown) =>
      options.logger.debug('the events of deleted threads could not be removed', { error }),
    );
  };
}
