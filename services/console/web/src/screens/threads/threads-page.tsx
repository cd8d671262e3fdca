import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { useLive } from '../../live/live.ts';
import { deploymentQuery } from '../../platform/deployments.ts';
import { deleteThread, type ListedThread, parseMetadataFilter, threadsQuery } from '../../platform/threads.ts';
import { ThreadTable } from './thread-table.tsx';

const ROUTE = '/signed-in/w/$workspaceId/deployments/$deploymentId/threads';
const STATUSES = ['idle', 'busy', 'interrupted', 'error'];
/** Exact up to here: above that only that there are more is known. */
const TOTAL_MAX = 10_000;

/** The threads of a deployment, the last changed first. */
export function ThreadsPage() {
  const { workspaceId, deploymentId } = useParams({ from: ROUTE });
  const filters = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/w/$workspaceId/deployments/$deploymentId/threads' });
  const queryClient = useQueryClient();
  const { data: deployment } = useQuery(deploymentQuery(workspaceId, deploymentId));
  const query = threadsQuery(workspaceId, deploymentId, filters);
  const threads = useInfiniteQuery(query);
  const [deleting, setDeleting] = useState<ListedThread>();
  const [hasChanged, setHasChanged] = useState(false);
  const pages = threads.data?.pages ?? [];
  const all = pages.flatMap(({ threads }) => threads);
  const total = pages.at(-1)?.total ?? 0;
  const refresh = () => {
    setHasChanged(false);
    void queryClient.resetQueries({ queryKey: query.queryKey });
  };
  useLive({ kind: 'runs', workspaceId }, ({ event, data }) => {
    const { deployment_ids: ids = [] } = (data ?? {}) as { deployment_ids?: string[] };
    // Lines that move under a reader's hand are worse than old ones.
    if (event === 'runs_changed' && ids.includes(deploymentId)) setHasChanged(true);
  });
  const filter = (change: { status?: string | undefined; metadata?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...change }) });
  const name = deployment?.display_name ?? deployment?.name;
  return (
    <Page
      title={name ? `Threads of ${name}` : 'Threads'}
      actions={<Button onClick={refresh}>{hasChanged ? 'Show what has changed' : 'Refresh'}</Button>}
    >
      <Filters key={filters.metadata} {...filters} onFilter={filter} />
      <Fault error={threads.error} onRetry={() => void threads.refetch()} />
      {threads.isPending && <Loading what="threads" />}
      <p role="status" className="text-xs text-faint">
        {threads.isSuccess && `${total > TOTAL_MAX ? 'More than 10,000' : total} ${total === 1 ? 'thread' : 'threads'}`}
      </p>
      {threads.isSuccess && all.length === 0 && (
        <Empty title={filters.status || filters.metadata ? 'No thread is like that' : 'There is no thread yet'}>
          <Link to="/w/$workspaceId" params={{ workspaceId }} search={{ deployment: deploymentId }}>
            Begin one in the chat
          </Link>
        </Empty>
      )}
      {all.length > 0 && (
        <ThreadTable
          {...{ workspaceId, deploymentId }}
          threads={all}
          total={threads.hasNextPage ? Math.max(total, all.length + 1) : all.length}
          isLoadingMore={threads.isFetchingNextPage}
          onEnd={() => threads.hasNextPage && !threads.isFetchingNextPage && void threads.fetchNextPage()}
          onDelete={setDeleting}
        />
      )}
      <Confirm
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title="Delete this thread?"
        description={`Thread ${deleting?.thread_id} is deleted with its runs and checkpoints.`}
        action="Delete"
        isDangerous
        onConfirm={async () => {
          if (!deleting) return;
          await deleteThread({ workspaceId, deploymentId, threadId: deleting.thread_id });
          await threads.refetch();
        }}
      />
    </Page>
  );
}

function Filters({
  status,
  metadata,
  onFilter,
}: {
  status?: string | undefined;
  metadata?: string | undefined;
  onFilter(change: { status?: string | undefined; metadata?: string | undefined }): void;
}) {
  const [text, setText] = useState(metadata ?? '');
  const isWrong = text.trim() !== '' && Object.keys(parseMetadataFilter(text)).length === 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isWrong) onFilter({ metadata: text.trim() || undefined });
  };
  return (
    <search>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <SelectField
          label="Status"
          value={status ?? ''}
          options={[{ value: '', label: 'Any' }, ...STATUSES.map((value) => ({ value, label: value }))]}
          onChange={({ target }) => onFilter({ status: target.value || undefined })}
        />
        <TextField
          label="Metadata"
          placeholder="graph_id=agent"
          value={text}
          fault={isWrong ? 'Write it as key=value, several with commas' : undefined}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit">Search</Button>
        {(status || metadata) && (
          <Button look="quiet" onClick={() => onFilter({ status: undefined, metadata: undefined })}>
            Clear
          </Button>
        )}
      </form>
    </search>
  );
}
