import type { ClaimedRun, FinishRun } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

/** A run that this worker has ended. `ms` counts from its acceptance, over all attempts. */
export type EndedRun = Pick<ClaimedRun, 'runId' | 'threadId' | 'kwargs'> &
  Pick<FinishRun, 'status' | 'threadStatus'> & { ms: number };

/** Logs one line for a run, for whoever watches what a deployment does. */
export function logRun(logger: Logger, { runId, threadId, kwargs, status, threadStatus, ms }: EndedRun): void {
  const { configurable } = (kwargs as { config?: { configurable?: { graph_id?: unknown } } }).config ?? {};
  const graphId = String(configurable?.graph_id);
  // A run that has asked something has ended well, and its thread waits for the answer.
  const shown = status === 'success' && threadStatus === 'interrupted' ? 'interrupted' : status;
  logger.info('run ended', { runId, threadId, graphId, status: shown, ms: Math.round(ms) });
}
