import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button, buttonClass, missingPermission } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { ask } from '../../platform/ask.ts';
import { at } from '../../platform/path.ts';
import { cancelRun, isActive, type RunPlace } from '../../platform/runs.ts';
import { useWorkspace } from '../../session/session.ts';
import { type RunFacts, runAgainBody } from './run-facts.ts';
import type { RunFeed } from './run-feed.ts';
import { useFeed } from './use-run-feed.ts';

interface RunActionsProps {
  feed: RunFeed;
  place: RunPlace;
  facts: RunFacts;
}

/** The buttons that cancel a run, or make it again. */
export function RunActions({ feed, place, facts }: RunActionsProps) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { workspaceId, deploymentId, threadId, runId } = place;
  const first = useFeed(feed, () => feed.history.firstCheckpoint);
  const before = useFeed(feed, () => feed.history.checkpointBefore);
  const body = runAgainBody(facts, { first, before });
  const cancel = useMutation({
    mutationFn: () => cancelRun(place),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['run', workspaceId, runId] }),
  });
  const again = useMutation({
    mutationFn: () =>
      ask<{ run_id: string }>(at`/deployments/${deploymentId}/threads/${threadId}/runs`, {
        method: 'POST',
        workspaceId,
        body,
      }),
    onSuccess: ({ run_id: runId }) =>
      navigate({
        to: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId',
        params: { workspaceId, deploymentId, threadId, runId },
        search: {},
      }),
  });
  const isRunning = isActive(facts.status);
  return (
    <>
      {isRunning ? (
        <Button
          look="danger"
          unavailable={
            missingPermission(workspace.may('runs:update'), 'runs:update') ??
            (cancel.isPending || cancel.isSuccess ? 'The run is being cancelled' : undefined)
          }
          onClick={() => cancel.mutate()}
        >
          Cancel the run
        </Button>
      ) : (
        <Button
          unavailable={
            missingPermission(workspace.may('runs:create'), 'runs:create') ??
            (body ? undefined : 'The state before the run, or its input, is not there any more') ??
            (again.isPending ? 'The run is being made' : undefined)
          }
          onClick={() => again.mutate()}
        >
          Run again
        </Button>
      )}
      {!isRunning && (
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId/replay"
          params={place}
          search={{}}
          className={buttonClass()}
        >
          Replay in shadow
        </Link>
      )}
      <Fault error={cancel.error ?? again.error} />
    </>
  );
}
