import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useLive } from '../../live/live.ts';
import { ask, PlatformError } from '../../platform/ask.ts';
import { at, type PlatformPath } from '../../platform/path.ts';
import { isActive, type RunPlace } from '../../platform/runs.ts';
import { type RunFacts, timesOf } from './run-facts.ts';
import { type FeedSnapshot, RunFeed } from './run-feed.ts';
import { STATES_PAGE, type StatesOfRun } from './run-history.ts';
import type { ThreadEvent } from './thread-event.ts';
import { HISTORY_FIELDS, type HistoryState } from './timeline-history.ts';

const CHANNELS = ['lifecycle', 'tasks', 'checkpoints', 'messages', 'tools', 'input', 'custom'];
/** Events of a run are kept for some time after its end. */
const EVENTS_KEPT_MS = 120_000;
/** Runs of other stream modes have no events of tasks, so that their history is read again and again. */
const HISTORY_EVERY_MS = 2_000;

export interface ShownFeed {
  feed: RunFeed;
  /** The failure of the last reading of the history. */
  error: unknown;
  isLoading: boolean;
  readAgain(): void;
}

/** The timeline of a run, with what comes as long as it goes on. */
export function useRunFeed(place: RunPlace, facts: RunFacts): ShownFeed {
  const { workspaceId, deploymentId, threadId, runId } = place;
  const queryClient = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [isLoading, setIsLoading] = useState(true);
  const isRunning = isActive(facts.status);
  // It is one run's and lives as long as its page; later facts are handed over below.
  const [feed] = useState(() => new RunFeed(timesOf(facts), statesOf(place)));
  const hasEnded = useFeed(feed, ({ hasEnded }) => hasEnded);
  const [isFollowed] = useState(() => isRunning || isRecent(facts.endedAt));
  const read = useMemo(
    () => () =>
      feed.history.read().then(
        () => {
          setError(undefined);
          setIsLoading(false);
        },
        (error: unknown) => {
          setError(error);
          setIsLoading(false);
        },
      ),
    [feed],
  );
  useEffect(() => feed.updateRun(timesOf(facts), facts.attempts, facts.error), [feed, facts]);
  useEffect(() => {
    // At first, and once more when it has ended: events may be missing, the history has all of it.
    if (hasEnded) void queryClient.invalidateQueries({ queryKey: ['run', workspaceId, runId] });
    void read();
  }, [read, hasEnded, isRunning, queryClient, workspaceId, runId]);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => !feed.hasTasks && void read(), HISTORY_EVERY_MS);
    return () => clearInterval(timer);
  }, [isRunning, feed, read]);
  useLive(
    isFollowed && !hasEnded ? { kind: 'thread', workspaceId, deploymentId, threadId, channels: CHANNELS } : undefined,
    ({ event, data }) => {
      if (event === 'open') return;
      if (event === 'closed') feed.addBreak();
      else feed.addEvent(data as ThreadEvent);
      if (event !== 'lifecycle' || (data as ThreadEvent).params.namespace.length > 0) return;
      void queryClient.invalidateQueries({ queryKey: ['run', workspaceId, runId] }, { cancelRefetch: false });
    },
  );
  return { feed, error, isLoading, readAgain: () => void read() };
}

/** Reads a part of a feed's snapshot; the component is drawn again when that changes. */
export function useFeed<Part>(feed: RunFeed, select: (snapshot: FeedSnapshot) => Part): Part {
  return useSyncExternalStore(feed.subscribe, () => select(feed.getSnapshot()));
}

function isRecent(endedAt: string | null): boolean {
  return endedAt !== null && Date.now() - Date.parse(endedAt) < EVENTS_KEPT_MS;
}

function statesOf({ workspaceId, deploymentId, threadId, runId }: RunPlace): StatesOfRun {
  const thread = at`/deployments/${deploymentId}/threads/${threadId}`;
  const post = <Answer>(path: PlatformPath, body: object) =>
    ask<Answer>(path, { method: 'POST', workspaceId, body: { ...body, select: HISTORY_FIELDS } });
  return {
    async listStates(namespace, before) {
      try {
        return await post<HistoryState[]>(at`${thread}/history`, {
          limit: STATES_PAGE,
          metadata: { run_id: runId },
          ...(namespace !== '' && { checkpoint: { checkpoint_ns: namespace } }),
          ...(before !== undefined && { before: { checkpoint_id: before, checkpoint_ns: namespace } }),
        });
      } catch (error) {
        // A thread that was deleted, or of a stateless run, has no history.
        if (error instanceof PlatformError && error.status === 404) return [];
        throw error;
      }
    },
    async getState(namespace, checkpointId) {
      try {
        return await post<HistoryState>(at`${thread}/state/checkpoint`, {
          checkpoint: { checkpoint_ns: namespace, checkpoint_id: checkpointId },
        });
      } catch (error) {
        if (error instanceof PlatformError && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}
