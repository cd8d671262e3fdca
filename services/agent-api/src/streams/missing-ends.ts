import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { type AppendEvent, appendEnd, CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

export interface MissingEndsOptions {
  engine: Pick<RunEngine, 'findRuns' | 'currentEpoch'>;
  streams: Pick<RunStreams, 'append'>;
  logger: Logger;
}

/**
 * Tells the ends of runs that are over, and that nobody told: whoever wrote them down was killed before it could. Clients that
 * follow a whole thread have nothing else to learn it from. An end that was told meanwhile is not told again.
 */
export async function tellMissingEnds(options: MissingEndsOptions, runIds: string[]): Promise<void> {
  const runs = await options.engine.findRuns(runIds);
  const told = await Promise.allSettled(runs.map((run) => tellEnd(options, run)));
  for (const result of told) {
    if (result.status === 'rejected')
      options.logger.warn('the end of a run could not be told', { error: result.reason });
  }
}

async function tellEnd({ engine, streams }: MissingEndsOptions, run: RunRecord): Promise<void> {
  const { runId, threadId, status, error, kwargs } = run;
  if (status === 'pending' || status === 'running') return;
  const currentEpoch = (thread: string) => engine.currentEpoch(thread);
  const epoch = await currentEpoch(threadId);
  if (epoch === undefined) return;
  const attempt = Math.max(1, run.attempt);
  const event = (kind: string, data: unknown): AppendEvent => ({
    runId,
    attempt,
    kind,
    event: kind === CONTROL_KINDS.end ? 'end' : kind,
    data: JSON.stringify(data),
  });
  const end = event(CONTROL_KINDS.end, { status });
  await appendEnd(
    { streams, currentEpoch },
    { fence: { threadId, epoch }, isResumable: kwargs.resumable === true },
    error ? [event('error', error), end] : [end],
  );
}
