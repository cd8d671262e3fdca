import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass, missingPermission } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { Missing } from '../../components/missing.tsx';
import { Page } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useLive } from '../../live/live.ts';
import { useThrottled } from '../../live/use-throttled.ts';
import { PlatformError } from '../../platform/ask.ts';
import { copyThread, deleteThread, type ThreadPlace, threadQuery } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';
import { errorText } from '../chat/chat-state.ts';
import { CheckpointDetail } from './checkpoint-detail.tsx';
import { ThreadHistory } from './thread-history.tsx';
import { ThreadRuns } from './thread-runs.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/threads/$threadId';

/** A thread: what was said, its state, its runs, and how it came to be. */
export function ThreadPage() {
  const place = useParams({ from: ROUTE });
  const { checkpoint, ns = '' } = useSearch({ from: ROUTE });
  const thread = useQuery(threadQuery(place));
  useRefetchedThread(place);
  if (thread.error instanceof PlatformError && thread.error.status === 404 && !thread.data) {
    return <Missing what="This thread" />;
  }
  return (
    <Page title={`Thread ${place.threadId.slice(0, 8)}`} actions={<Actions place={place} />}>
      <Fault error={thread.error} onRetry={() => void thread.refetch()} />
      {thread.isPending && <Loading what="the thread" />}
      {thread.data && (
        <dl className="flex flex-wrap gap-x-6 gap-y-2">
          <Fact name="Status">
            <Status status={thread.data.status} />
          </Fact>
          <Fact name="Graph">{String(thread.data.metadata.graph_id ?? '–')}</Fact>
          <Fact name="Changed">
            <Time at={thread.data.updated_at} />
          </Fact>
          <Fact name="Created">
            <Time at={thread.data.created_at} />
          </Fact>
          <Fact name="Id">
            <code className="text-xs break-all">{place.threadId}</code>
          </Fact>
        </dl>
      )}
      {thread.data?.error && <Fault error={errorText(thread.data.error)} />}
      {thread.data && (
        <details>
          <summary className="cursor-pointer text-xs font-semibold">Metadata</summary>
          <div className="mt-2">
            <JsonView name="metadata" value={thread.data.metadata} />
          </div>
        </details>
      )}
      <div className="grid min-w-0 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <CheckpointDetail place={place} checkpointId={checkpoint} namespace={ns} />
        <div className="flex min-w-0 flex-col gap-6">
          <ThreadHistory place={place} checkpointId={checkpoint} namespace={ns} />
          <ThreadRuns place={place} />
        </div>
      </div>
    </Page>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}

/** Reads the thread again when something happens to it, once a second at most. */
function useRefetchedThread(place: ThreadPlace): void {
  const queryClient = useQueryClient();
  const refetch = useThrottled(() => {
    const { workspaceId, deploymentId, threadId } = place;
    void queryClient.invalidateQueries(threadQuery(place));
    void queryClient.invalidateQueries({ queryKey: ['thread-state', workspaceId, deploymentId, threadId, null] });
    void queryClient.invalidateQueries({ queryKey: ['thread-history', workspaceId, deploymentId, threadId] });
    void queryClient.invalidateQueries({ queryKey: ['thread-runs', workspaceId, deploymentId, threadId] });
  });
  useLive({ kind: 'thread', ...place, channels: ['checkpoints', 'lifecycle'] }, ({ event }) => {
    if (event !== 'closed') refetch();
  });
}

function Actions({ place }: { place: ThreadPlace }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  const [isCopying, setIsCopying] = useState(false);
  const { workspaceId, deploymentId } = place;
  return (
    <>
      <Link
        to="/w/$workspaceId"
        params={{ workspaceId }}
        search={{ deployment: deploymentId, thread: place.threadId }}
        className={buttonClass()}
      >
        Go on in the chat
      </Link>
      <Button
        unavailable={missingPermission(workspace.may('runs:create'), 'runs:create')}
        onClick={() => setIsCopying(true)}
      >
        Copy
      </Button>
      <Button
        look="danger"
        unavailable={missingPermission(workspace.may('runs:delete'), 'runs:delete')}
        onClick={() => setIsDeleting(true)}
      >
        Delete
      </Button>
      <Confirm
        isOpen={isCopying}
        onClose={() => setIsCopying(false)}
        title="Copy this thread?"
        description="The copy has the same history and a new id, and is independent from then on."
        action="Copy"
        onConfirm={async () => {
          const { thread_id: threadId } = await copyThread(place);
          await navigate({
            to: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId',
            params: { workspaceId, deploymentId, threadId },
          });
        }}
      />
      <Confirm
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title="Delete this thread?"
        description="Its runs and checkpoints are deleted with it. A run in flight is stopped."
        action="Delete"
        isDangerous
        onConfirm={async () => {
          await deleteThread(place);
          await queryClient.invalidateQueries({ queryKey: ['threads', workspaceId, deploymentId] });
          await navigate({
            to: '/w/$workspaceId/deployments/$deploymentId/threads',
            params: { workspaceId, deploymentId },
          });
        }}
      />
    </>
  );
}
