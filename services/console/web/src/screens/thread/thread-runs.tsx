import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { type ThreadPlace, threadRunsQuery } from '../../platform/threads.ts';

/** The runs of a thread, newest first. */
export function ThreadRuns({ place }: { place: ThreadPlace }) {
  const runs = useInfiniteQuery(threadRunsQuery(place));
  const all = runs.data?.pages.flat() ?? [];
  return (
    <section aria-labelledby="runs" className="flex min-w-0 flex-col gap-2">
      <h2 id="runs" className="text-base font-semibold">
        Runs
      </h2>
      <Fault error={runs.error} onRetry={() => void runs.refetch()} />
      {runs.isPending && <Loading what="the runs" />}
      {runs.isSuccess && all.length === 0 && <p className="text-faint">No run is kept.</p>}
      {all.length > 0 && (
        <table className="w-full border-collapse rounded border border-line bg-card text-left">
          <thead className="text-xs text-faint">
            <tr>
              <th className="px-2 py-1 font-medium">Run</th>
              <th className="px-2 py-1 font-medium">Status</th>
              <th className="px-2 py-1 font-medium">Created</th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ run_id: runId, status, created_at: at }) => (
              <tr key={runId} className="border-t border-line">
                <td className="px-2 py-1 font-mono text-xs">
                  <Link
                    to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId"
                    params={{ ...place, runId }}
                  >
                    {runId.slice(-12)}
                  </Link>
                </td>
                <td className="px-2 py-1">
                  <Status status={status} />
                </td>
                <td className="px-2 py-1 text-xs text-faint">
                  <Time at={at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {runs.hasNextPage && (
        <Button
          className="self-start"
          size="small"
          unavailable={runs.isFetchingNextPage ? 'Older ones are being read' : undefined}
          onClick={() => void runs.fetchNextPage()}
        >
          Older runs
        </Button>
      )}
    </section>
  );
}
