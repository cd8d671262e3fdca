import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { SelectField } from '../../components/field.tsx';
import { diffJson } from '../../components/json-diff.ts';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { type ListedCheckpoint, threadHistoryQuery, threadStateQuery } from '../../platform/threads.ts';
import { describeCheckpoint } from '../thread/checkpoint-tree.ts';
import { ChangeList } from './change-list.tsx';
import { writersBetween } from './writers.ts';

/** Two checkpoints of a thread side by side: what became of the state between them, and which nodes wrote it. */
export function DiffPage() {
  const place = useParams({ from: '/signed-in/w/$workspaceId/deployments/$deploymentId/threads/$threadId/diff' });
  const search = useSearch({ from: '/signed-in/w/$workspaceId/deployments/$deploymentId/threads/$threadId/diff' });
  const navigate = useNavigate({ from: '/w/$workspaceId/deployments/$deploymentId/threads/$threadId/diff' });
  const history = useInfiniteQuery(threadHistoryQuery(place));
  const checkpoints = useMemo(() => history.data?.pages.flat() ?? [], [history.data]);
  const to = search.to ?? checkpoints[0]?.checkpoint_id ?? undefined;
  const parent = checkpoints.find(({ checkpoint_id: id }) => id === to)?.parent_checkpoint_id ?? undefined;
  const from = search.from ?? parent;
  const [before, after] = [
    useQuery({ ...threadStateQuery(place, from), enabled: from !== undefined }),
    useQuery({ ...threadStateQuery(place, to), enabled: to !== undefined }),
  ];
  const changes = useMemo(
    () =>
      after.data && (before.data || from === undefined)
        ? diffJson(before.data?.values ?? {}, after.data.values)
        : undefined,
    [before.data, after.data, from],
  );
  const writers = useMemo(
    () => (from !== undefined && to !== undefined ? writersBetween(checkpoints, { from, to }) : null),
    [checkpoints, from, to],
  );
  const choose = (chosen: { from?: string | undefined; to?: string | undefined }) =>
    void navigate({ search: { ...(from && { from }), ...(to && { to }), ...chosen }, replace: true });
  const newer = checkpoints.find(({ parent_checkpoint_id: id }) => id === to)?.checkpoint_id ?? undefined;
  const options = [
    ...(from === undefined ? [{ value: '', label: 'Before the first checkpoint' }] : []),
    ...checkpoints.flatMap(optionOf),
  ];
  return (
    <Page
      title="What changed"
      actions={
        <Link to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId" params={place}>
          Back to the thread
        </Link>
      }
    >
      <Fault error={history.error ?? before.error ?? after.error} onRetry={() => void history.refetch()} />
      <div className="grid min-w-0 gap-3 md:grid-cols-[1fr_auto_1fr] md:items-end">
        <SelectField
          label="From"
          options={options}
          value={from ?? ''}
          onChange={({ target }) => choose({ from: target.value })}
        />
        <Button
          onClick={() => choose({ from: to, to: from })}
          unavailable={from === undefined ? 'There is nothing before the first checkpoint' : undefined}
        >
          Swap
        </Button>
        <SelectField
          label="To"
          options={checkpoints.flatMap(optionOf)}
          value={to ?? ''}
          onChange={({ target }) => choose({ to: target.value })}
        />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          size="small"
          onClick={() => choose({ from: undefined, to: parent })}
          unavailable={parent === undefined ? 'This is the first step that is known' : undefined}
        >
          ← Step before
        </Button>
        <Button
          size="small"
          onClick={() => choose({ from: to, to: newer })}
          unavailable={newer === undefined ? 'No step follows' : undefined}
        >
          Step after →
        </Button>
        {history.hasNextPage && (
          <Button size="small" onClick={() => void history.fetchNextPage()}>
            Older checkpoints
          </Button>
        )}
      </div>
      {(history.isPending || (to !== undefined && changes === undefined && !after.error && !before.error)) && (
        <Loading what="both states" />
      )}
      <p role="status" className="text-xs text-faint empty:hidden">
        {changes && `${changes.length} ${changes.length === 1 ? 'difference' : 'differences'}`}
      </p>
      {changes?.length === 0 && <Empty title="Both states are the same" />}
      {changes && changes.length > 0 && <ChangeList key={`${from}:${to}`} changes={changes} writers={writers} />}
    </Page>
  );
}

function optionOf(checkpoint: ListedCheckpoint): { value: string; label: string }[] {
  const { checkpoint_id: id, metadata, created_at: createdAt } = checkpoint;
  if (id === null) return [];
  const at = createdAt === null ? '' : `, ${new Date(createdAt).toLocaleTimeString()}`;
  return [{ value: id, label: `Step ${String(metadata?.step ?? '–')}: ${describeCheckpoint(checkpoint)}${at}` }];
}
