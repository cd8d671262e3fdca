import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { type ListedCheckpoint, type ThreadPlace, threadHistoryQuery } from '../../platform/threads.ts';
import { describeCheckpoint } from './checkpoint-tree.ts';
import { memoryNamespace, parentOf, type SubgraphTask, subgraphsAfter } from './namespace.ts';

interface SubgraphsProps {
  place: ThreadPlace;
  checkpoint: Pick<ListedCheckpoint, 'tasks' | 'checkpoint_id'>;
}

/** The subgraphs that ran after a checkpoint, each with its own checkpoints. */
export function Subgraphs({ place, checkpoint }: SubgraphsProps) {
  const subgraphs = subgraphsAfter(checkpoint);
  if (subgraphs.length === 0) return null;
  return (
    <section aria-labelledby="subgraphs" className="flex min-w-0 flex-col gap-2">
      <h2 id="subgraphs" className="text-base font-semibold">
        Subgraphs after this checkpoint
      </h2>
      {subgraphs.map((subgraph) => (
        <Subgraph key={subgraph.namespace} {...{ place, subgraph }} aroundId={checkpoint.checkpoint_id} />
      ))}
    </section>
  );
}

interface SubgraphProps {
  place: ThreadPlace;
  subgraph: SubgraphTask;
  /** The checkpoint of the graph around it. */
  aroundId: string | null;
}

function Subgraph({ place, subgraph: { name, namespace, hasRun }, aroundId }: SubgraphProps) {
  const own = useInfiniteQuery(threadHistoryQuery(place, namespace));
  const hasOwn = own.data?.pages.some((page) => page.length > 0) ?? false;
  const inMemory = memoryNamespace(namespace);
  const memory = useInfiniteQuery({ ...threadHistoryQuery(place, inMemory), enabled: own.isSuccess && !hasOwn });
  const history = hasOwn ? own : memory;
  const all = history.data?.pages.flat() ?? [];
  const checkpoints = hasOwn ? all : all.filter(({ metadata }) => isUnder(metadata, namespace, aroundId));
  return (
    <div className="min-w-0 rounded border border-line bg-card">
      <h3 className="flex flex-wrap items-baseline gap-x-2 border-b border-line px-2 py-1">
        <code>{name}</code>
        {hasRun && <span className="text-xs text-faint">has run</span>}
      </h3>
      <Fault error={own.error ?? memory.error} onRetry={() => void own.refetch()} />
      {history.isLoading && <Loading what={`the checkpoints of ${name}`} />}
      {history.isSuccess && checkpoints.length === 0 && (
        <p className="px-2 py-1 text-faint">It has no checkpoints yet.</p>
      )}
      {checkpoints.length > 0 && (
        <ol aria-label={`Checkpoints of ${name}, newest first`} className="max-h-60 overflow-auto">
          {checkpoints.map((checkpoint) => (
            <li key={checkpoint.checkpoint_id}>
              <Link
                from="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
                to="."
                search={{
                  ns: hasOwn ? namespace : inMemory,
                  ...(checkpoint.checkpoint_id !== null && { checkpoint: checkpoint.checkpoint_id }),
                }}
                className="flex min-w-0 items-baseline gap-2 px-2 py-1 text-text no-underline hover:bg-raised focus-visible:-outline-offset-2"
              >
                <span className="text-xs text-faint">{String(checkpoint.metadata?.step ?? '')}</span>
                <span className="min-w-0 flex-1 truncate font-medium">{describeCheckpoint(checkpoint)}</span>
                <span className="truncate text-xs text-faint">
                  {checkpoint.next.length > 0 ? `next: ${checkpoint.next.join(', ')}` : 'ends'}
                </span>
              </Link>
            </li>
          ))}
        </ol>
      )}
      {history.hasNextPage && (
        <Button size="small" className="m-2" onClick={() => void history.fetchNextPage()}>
          Older checkpoints
        </Button>
      )}
    </div>
  );
}

/** Returns whether a checkpoint of a subgraph with memory was made in the step after a checkpoint around it. */
function isUnder(metadata: ListedCheckpoint['metadata'], namespace: string, aroundId: string | null): boolean {
  const parents = metadata?.parents as Record<string, unknown> | undefined;
  return parents?.[parentOf(namespace)] === aroundId;
}
