import type { JournalRunDetail, Run } from '@runyard/contracts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useLive } from '../../live/live.ts';
import { useThrottled } from '../../live/use-throttled.ts';
import { runCheckpointsQuery } from '../../platform/replay.ts';
import { checkpointStateQuery } from '../../platform/run-states.ts';
import { deploymentRunQuery, isActive, journalRunQuery, type RunPlace } from '../../platform/runs.ts';
import { joinFacts, type RunFacts } from '../run/run-facts.ts';
import { ownCheckpoints } from './run-start.ts';
import { type RunStep, stepsOf } from './run-steps.ts';

const CHANNELS = ['lifecycle', 'tasks', 'checkpoints'];
/** The journal has the end of a run a moment after the run has ended. */
const JOURNAL_EVERY_MS = 2_000;
const JOURNAL_WAIT_MS = 20_000;

/** One side of a comparison. */
export interface ComparedRun {
  place: RunPlace;
  /** Undefined while it loads; null where it is not there any more. */
  run: Run | null | undefined;
  journal: JournalRunDetail | null | undefined;
  facts: RunFacts | undefined;
  isRunning: boolean;
  steps: RunStep[];
  /** The state that it began with; undefined while it loads. */
  before: unknown;
  /** The state at its newest checkpoint; undefined while it has none. */
  values: unknown;
  error: unknown;
  readAgain(): void;
}

/** Reads a run with its steps and its state, and again as long as it goes on. */
export function useComparedRun(place: RunPlace): ComparedRun {
  const { workspaceId, deploymentId, threadId, runId } = place;
  const queryClient = useQueryClient();
  const run = useQuery(deploymentRunQuery(place));
  const isRunning = run.data ? isActive(run.data.status) : false;
  const hasEnded = run.data ? !isRunning : false;
  const seenEndAt = useRef<number>(undefined);
  if (hasEnded) seenEndAt.current ??= Date.now();
  const journal = useQuery({
    ...journalRunQuery(place),
    refetchInterval: ({ state: { data } }) => {
      const isAwaited = !data?.ended_at && Date.now() - (seenEndAt.current ?? 0) < JOURNAL_WAIT_MS;
      return isAwaited ? JOURNAL_EVERY_MS : false;
    },
  });
  const checkpoints = useQuery(runCheckpointsQuery(place));
  const own = useMemo(() => ownCheckpoints(checkpoints.data ?? []), [checkpoints.data]);
  const [first, last] = [own.at(-1)?.parent_checkpoint_id, own[0]?.checkpoint_id];
  const before = useQuery({ ...checkpointStateQuery(place, stateAt(first)), enabled: Boolean(first) });
  const after = useQuery({
    ...checkpointStateQuery(place, stateAt(last)),
    enabled: Boolean(last),
    placeholderData: keepPreviousData,
  });
  const readAgain = useCallback(
    () => void queryClient.invalidateQueries({ queryKey: ['run', workspaceId, runId] }),
    [queryClient, workspaceId, runId],
  );
  const readSoon = useThrottled(readAgain);
  // The last checkpoint may have come after the history was read, and before the end of the run was.
  useEffect(() => {
    if (hasEnded) void queryClient.invalidateQueries({ queryKey: ['run', workspaceId, runId, 'checkpoints'] });
  }, [hasEnded, queryClient, workspaceId, runId]);
  // A stream that cannot be followed is tried again from time to time, and each time the run is read.
  useLive(
    isRunning ? { kind: 'thread', workspaceId, deploymentId, threadId, channels: CHANNELS } : undefined,
    readSoon,
  );
  useLive({ kind: 'runs', workspaceId }, ({ event, data }) => {
    if (event !== 'runs_changed' || (hasEnded && journal.data?.ended_at)) return;
    if ((data as { deployment_ids: string[] }).deployment_ids.includes(deploymentId)) readSoon();
  });
  const steps = useMemo(() => {
    const start = before.data && { next: before.data.next, created_at: null };
    return stepsOf(own, start);
  }, [own, before.data]);
  return {
    place,
    run: run.data,
    journal: journal.data,
    facts: useMemo(() => joinFacts(run.data, journal.data), [run.data, journal.data]),
    isRunning,
    steps,
    before: first ? before.data?.values : {},
    values: last ? after.data?.values : undefined,
    error: run.error ?? journal.error ?? checkpoints.error ?? before.error ?? after.error,
    readAgain,
  };
}

function stateAt(id: string | null | undefined) {
  return { id: id ?? '', namespace: '' };
}
