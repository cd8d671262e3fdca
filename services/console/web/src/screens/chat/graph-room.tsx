import type { Thread } from '@runyard/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { takesMessages } from '../../components/messages-content.ts';
import { useLive } from '../../live/live.ts';
import { useThrottled } from '../../live/use-throttled.ts';
import { ask } from '../../platform/ask.ts';
import { assistantSchemasQuery } from '../../platform/assistants.ts';
import { at } from '../../platform/path.ts';
import { type ThreadPlace, threadQuery } from '../../platform/threads.ts';
import { useAskedQuestions } from './asked-questions.ts';
import { ChatSession } from './chat-session.ts';
import { Conversation } from './conversation.tsx';
import { FormRun } from './form-run.tsx';

export interface GraphRoomProps {
  place: ThreadPlace;
  /** True for a thread that does not exist before its first run. */
  isNew: boolean;
  assistantId: string;
  /** Called when a run has been started on the thread. */
  onStarted(): void;
}

/** A thread with an assistant: a chat, or a form for a graph that takes something else than messages. */
export function GraphRoom({ place, isNew, assistantId, onStarted }: GraphRoomProps) {
  const queryClient = useQueryClient();
  const schemas = useQuery(assistantSchemasQuery({ ...place, assistantId }));
  const thread = useQuery({ ...threadQuery(place), enabled: !isNew });
  // The parent gives a key for each thread.
  const session = useMemo(() => {
    const loadThread = () => queryClient.fetchQuery({ ...threadQuery(place), staleTime: 0 });
    return new ChatSession(place, loadThread);
  }, []);
  const snapshot = useSyncExternalStore(session.subscribe, session.snapshot);
  useEffect(() => () => session.leave(), [session]);
  useFollowedThread(session, place, thread.data, isNew);
  const { questions, wasTaken, finish } = useAskedQuestions(thread.data, snapshot.status === 'idle');
  const hasStarted = isNew && snapshot.runId !== undefined;
  // It is called once, with what is then to be done.
  useEffect(() => {
    if (hasStarted) onStarted();
  }, [hasStarted]);
  if (schemas.isPending) return <Loading what="the input of the graph" />;
  const start = (input: unknown, said?: Record<string, unknown>) => {
    finish();
    session.start({ assistantId, input }, said);
  };
  const stop = () => {
    const { runId } = session.snapshot();
    if (runId === undefined) return Promise.resolve();
    const { workspaceId, deploymentId, threadId } = place;
    return ask(at`/deployments/${deploymentId}/threads/${threadId}/runs/${runId}/cancel`, {
      method: 'POST',
      workspaceId,
    });
  };
  const Room = takesMessages(schemas.data?.input_schema) ? Conversation : FormRun;
  return (
    <>
      <Fault error={schemas.error} onRetry={() => void schemas.refetch()} />
      {!isNew && thread.isPending && snapshot.status === 'idle' && <Loading what="the thread" />}
      {!isNew && snapshot.status === 'idle' && <Fault error={thread.error} onRetry={() => void thread.refetch()} />}
      <Room
        {...{ place, snapshot, start, stop, questions, wasTaken }}
        schema={schemas.data?.input_schema ?? null}
        onAnswered={(outcome) => {
          finish(outcome);
          if (outcome.type === 'taken') session.join(outcome.runId);
          else void queryClient.invalidateQueries(threadQuery(place));
        }}
      />
    </>
  );
}

/** Shows in the session what others do on the thread, and joins the run that is in flight. */
function useFollowedThread(session: ChatSession, place: ThreadPlace, thread: Thread | undefined, isNew: boolean): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!thread) return;
    session.showThread(thread);
    if (thread.status !== 'busy' || session.snapshot().status !== 'idle') return;
    const { workspaceId, deploymentId, threadId } = place;
    const controller = new AbortController();
    findRunInFlight({ workspaceId, deploymentId, threadId }, controller.signal).then(
      (runId) => runId !== undefined && session.join(runId),
      () => {},
    );
    return () => controller.abort();
    // The place is the session's.
  }, [session, thread]);
  const refetch = useThrottled(() => void queryClient.invalidateQueries(threadQuery(place)));
  const live = { kind: 'thread' as const, ...place, channels: ['lifecycle', 'checkpoints'] };
  useLive(isNew ? undefined : live, ({ event }) => {
    // A run whose own stream says how far it is needs no second word of it.
    if ((event === 'lifecycle' || event === 'checkpoints') && !session.hasValues()) refetch();
  });
}

/** Returns the oldest run of a thread that has not ended. */
async function findRunInFlight(place: ThreadPlace, signal: AbortSignal): Promise<string | undefined> {
  const { workspaceId, deploymentId, threadId } = place;
  const runs = await ask<{ run_id: string; status: string }[]>(
    at`/deployments/${deploymentId}/threads/${threadId}/runs`,
    {
      workspaceId,
      signal,
      query: { limit: 20 },
    },
  );
  const inFlight = runs.filter(({ status }) => status === 'running' || status === 'pending');
  return inFlight.at(-1)?.run_id;
}
