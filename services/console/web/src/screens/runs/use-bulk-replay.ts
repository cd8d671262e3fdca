import type { JournalRun } from '@runyard/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type BulkOutcome, replayAll } from '../replay/bulk-replay.ts';
import { planReplay } from '../replay/plan-replay.ts';
import { startShadow } from '../replay/start-shadow.ts';

/** Replays several runs. It stops when the part of the page that uses it has gone. */
export function useBulkReplay(workspaceId: string, runs: readonly JournalRun[]) {
  const queryClient = useQueryClient();
  const stop = useRef(new AbortController());
  const [isStopped, setIsStopped] = useState(false);
  const [isWorking, setIsWorking] = useState(false);
  /** Undefined until it has begun. */
  const [outcomes, setOutcomes] = useState<readonly BulkOutcome[]>();
  const [batch] = useState(() => crypto.randomUUID());
  useEffect(() => () => stop.current.abort(), []);
  const start = async (assistantId: string | undefined) => {
    stop.current = new AbortController();
    setIsWorking(true);
    await replayAll(
      runs,
      (run) => replayRun(workspaceId, run, { assistantId, batch }),
      setOutcomes,
      stop.current.signal,
    );
    setIsWorking(false);
    void queryClient.invalidateQueries({ queryKey: ['runs', workspaceId] });
  };
  return {
    start: (assistantId: string | undefined) => void start(assistantId),
    stop: () => {
      setIsStopped(true);
      stop.current.abort();
    },
    isStopped,
    isWorking,
    outcomes,
    batch,
  };
}

/** @throws PlatformError; Error with the reason why the run cannot be replayed */
async function replayRun(
  workspaceId: string,
  { deployment_id: deploymentId, thread_id: threadId, run_id: runId }: JournalRun,
  { assistantId, batch }: { assistantId: string | undefined; batch: string },
) {
  const { plan, refusal } = await planReplay({ workspaceId, deploymentId, threadId, runId });
  if (!plan) throw new Error(refusal);
  return startShadow(plan, { assistantId: assistantId ?? plan.run.assistant_id, batch });
}
