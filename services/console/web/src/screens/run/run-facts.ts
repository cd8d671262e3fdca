import type { JournalRunDetail, Run } from '@runyard/contracts';
import type { RunTimes } from './run-events.ts';

/** A run, as its deployment and the journal know it together. */
export interface RunFacts {
  runId: string;
  status: string;
  graphId: string | undefined;
  assistantId: string;
  revisionId: string | null;
  attempt: number | undefined;
  attempts: JournalRunDetail['attempts'];
  models: JournalRunDetail['models'];
  tools: JournalRunDetail['tools'];
  createdAt: string | null;
  startedAt: string | null;
  endedAt: string | null;
  queueMs: number | null;
  durationMs: number | null;
  error: JournalRunDetail['error'];
  creator: JournalRunDetail['creator'];
  cronId: string | null;
  cancelReason: string | undefined;
  metadata: Record<string, unknown> | null;
  /** The arguments it was made with; undefined once its deployment has it no more. */
  kwargs: Record<string, unknown> | undefined;
}

/**
 * Joins the two. The deployment knows the status first; the journal knows times and attempts, a moment later, and keeps
 * the run for longer. Undefined where neither has it.
 */
export function joinFacts(
  run: Run | null | undefined,
  journal: JournalRunDetail | null | undefined,
): RunFacts | undefined {
  const either = run ?? journal;
  if (!either) return undefined;
  const graphId = journal?.graph_id ?? run?.metadata.graph_id;
  return {
    runId: either.run_id,
    status: either.status,
    graphId: typeof graphId === 'string' ? graphId : undefined,
    assistantId: either.assistant_id,
    revisionId: journal?.revision_id ?? null,
    attempt: journal?.attempt,
    attempts: journal?.attempts ?? [],
    models: journal?.models ?? [],
    tools: journal?.tools ?? [],
    createdAt: journal?.created_at ?? run?.created_at ?? null,
    startedAt: journal?.started_at ?? null,
    endedAt: journal?.ended_at ?? null,
    queueMs: journal?.queue_ms ?? null,
    durationMs: journal?.duration_ms ?? null,
    error: journal?.error ?? null,
    creator: journal?.creator ?? null,
    cronId: journal?.cron_id ?? null,
    cancelReason: run?.cancel_reason ?? journal?.cancel_action ?? undefined,
    metadata: run?.metadata ?? journal?.metadata ?? null,
    kwargs: run?.kwargs,
  };
}

export function timesOf({ runId, createdAt, startedAt, endedAt }: RunFacts): RunTimes {
  const moment = (at: string | null) => (at === null ? undefined : Date.parse(at));
  return { runId, createdAt: moment(createdAt) ?? 0, startedAt: moment(startedAt), endedAt: moment(endedAt) };
}

/** Arguments that the platform gives each run itself. */
export const OF_THE_PLATFORM =
  /^(run_id|thread_id|graph_id|assistant_id|user_id|checkpoint.*|langgraph_.*|svc_.*|__.*)$/;

/**
 * Returns the body of a request that makes the same run again, from the state before it; undefined where the run does not
 * say with what it was made. `before` is the checkpoint before its first, which a thread's first run has none of: that
 * one is made again from its own first checkpoint, `first`, which holds the input.
 */
export function runAgainBody(
  facts: RunFacts,
  { first, before }: { first: string | undefined; before: string | undefined },
): Record<string, unknown> | undefined {
  const { kwargs, assistantId, metadata } = facts;
  const start = before ?? first;
  if (!kwargs || start === undefined) return undefined;
  const { input, command } = kwargs;
  const config = (kwargs.config ?? {}) as { configurable?: Record<string, unknown>; recursion_limit?: number };
  const own = Object.entries(config.configurable ?? {}).filter(([name]) => !OF_THE_PLATFORM.test(name));
  const { graph_id: _graph, assistant_id: _assistant, created_by: _creator, ...ownMetadata } = metadata ?? {};
  return {
    assistant_id: assistantId,
    checkpoint: { checkpoint_id: start },
    ...(before !== undefined && input != null && { input }),
    ...(before !== undefined && command != null && { command }),
    metadata: ownMetadata,
    config: {
      ...(config.recursion_limit !== undefined && { recursion_limit: config.recursion_limit }),
      // With events by tasks and messages, so that it can be watched.
      configurable: { ...Object.fromEntries(own), __event_streaming_v2: true },
    },
  };
}
