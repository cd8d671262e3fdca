import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Time } from '../../components/time.tsx';
import { type ThreadPlace, threadHistoryQuery } from '../../platform/threads.ts';
import { type CheckpointRow, checkpointTree, describeCheckpoint } from './checkpoint-tree.ts';
import { nodeOf } from './namespace.ts';

const SIGNS = { self: '●', passes: '│', joins: '╯', empty: ' ' };
/** More branches than these are drawn as one. */
const LANES_MAX = 8;

interface ThreadHistoryProps {
  place: ThreadPlace;
  checkpointId: string | undefined;
  /** The subgraph whose checkpoints are shown, empty for the whole graph. */
  namespace: string;
}

/** The checkpoints of a graph as a tree of forks, newest first. Each leads to its state. */
export function ThreadHistory({ place, checkpointId, namespace }: ThreadHistoryProps) {
  const history = useInfiniteQuery(threadHistoryQuery(place, namespace));
  const rows = useMemo(() => checkpointTree(history.data?.pages.flat() ?? []), [history.data]);
  const newest = rows[0]?.id;
  return (
    <section aria-labelledby="history" className="flex min-w-0 flex-col gap-2">
      <h2 id="history" className="text-base font-semibold">
        {namespace === '' ? 'History' : `History of ${nodeOf(namespace)}`}
      </h2>
      <Fault error={history.error} onRetry={() => void history.refetch()} />
      {history.isPending && <Loading what="the history" />}
      {history.isSuccess && rows.length === 0 && <p className="text-faint">Nothing has been written yet.</p>}
      {rows.length > 0 && (
        <ol
          aria-label="Checkpoints, newest first"
          className="max-h-[60vh] overflow-auto rounded border border-line bg-card"
        >
          {rows.map((row) => (
            <CheckpointItem
              key={row.id}
              row={row}
              namespace={namespace}
              isCurrent={row.id === (checkpointId ?? newest)}
              isNewest={row.id === newest}
            />
          ))}
        </ol>
      )}
      {history.hasNextPage && (
        <Button
          className="self-start"
          size="small"
          unavailable={history.isFetchingNextPage ? 'Older ones are being read' : undefined}
          onClick={() => void history.fetchNextPage()}
        >
          Older checkpoints
        </Button>
      )}
    </section>
  );
}

interface CheckpointItemProps {
  row: CheckpointRow;
  namespace: string;
  isCurrent: boolean;
  isNewest: boolean;
}

function CheckpointItem({ row, namespace, isCurrent, isNewest }: CheckpointItemProps) {
  const { checkpoint, lanes, forks, isTip, lane } = row;
  const waits = checkpoint.interrupts.length > 0;
  const failed = checkpoint.tasks.some(({ error }) => error !== null && error !== undefined);
  return (
    <li>
      <Link
        from="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
        to="."
        search={{ ...(namespace !== '' && { ns: namespace }), ...(!isNewest && { checkpoint: row.id }) }}
        aria-current={isCurrent ? 'true' : undefined}
        activeOptions={{ exact: true, includeSearch: true }}
        resetScroll={false}
        className={`flex min-w-0 items-center gap-2 px-2 py-1 text-text no-underline hover:bg-raised focus-visible:-outline-offset-2 ${isCurrent ? 'bg-chosen' : ''}`}
      >
        <span aria-hidden="true" className="shrink-0 font-mono whitespace-pre text-faint">
          {lanes
            .slice(0, LANES_MAX)
            .map((each) => SIGNS[each])
            .join('')}
        </span>
        <span className="min-w-0 flex-1 truncate">
          <span className="text-xs text-faint">{String(checkpoint.metadata?.step ?? '')}</span>{' '}
          <span className="font-medium">{describeCheckpoint(checkpoint)}</span>
          {waits && <span className="text-wait"> ● asks</span>}
          {failed && <span className="text-fault"> ✕ failed</span>}
          {isTip && lane > 0 && <span className="text-faint"> · end of branch {lane + 1}</span>}
          {forks > 0 && <span className="text-faint"> · {forks} branches go on</span>}
        </span>
        <span className="text-xs text-faint">
          <Time at={checkpoint.created_at} />
        </span>
      </Link>
    </li>
  );
}
