import type { RunEngine } from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';
import { MissingEnds } from './missing-ends.ts';
import { OpenResponses } from './open-responses.ts';
import { RunWatch } from './run-watch.ts';
import { createThreadWatch } from './thread-watch.ts';

/** The readers of streams and waiters for results in this process. */
export interface Readers {
  open: OpenResponses;
  watch: RunWatch;
  threadWatch: RunWatch;
  ends: MissingEnds;
  /** Makes whoever waits look soon, because something was deleted without an end event. */
  wake(): void;
}

export function openReaders(
  engine: Pick<RunEngine, 'runsInFlight' | 'findRuns' | 'currentEpoch'>,
  streams: Pick<RunStreams, 'append' | 'expireRun' | 'readRunState'>,
  pool: pg.Pool,
  { logger, lifecycle }: ServiceContext,
): Readers {
  const open = new OpenResponses();
  const watch = new RunWatch({
    findInFlight: (runIds) => engine.runsInFlight(runIds),
    onError: (error) => logger.warn('looking up runs of open streams failed, will retry', { error }),
  });
  lifecycle.onStop('run watch', () => watch.close());
  const threadWatch = createThreadWatch(pool, (error) =>
    logger.warn('looking up threads of open streams failed, will retry', { error }),
  );
  lifecycle.onStop('thread watch', () => threadWatch.close());
  return {
    open,
    watch,
    threadWatch,
    ends: new MissingEnds({ engine, streams, logger }),
    wake() {
      watch.wake();
      threadWatch.wake();
    },
  };
}
