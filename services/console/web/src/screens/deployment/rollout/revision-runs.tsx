import type { Deployment } from '@runyard/contracts';
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { useLive } from '../../../live/live.ts';
import { type RevisionRuns, runsByRevisionQuery } from '../../../platform/revisions.ts';
import { ActiveMark } from '../active-mark.tsx';

const REFETCH_MS = 1_000;
/** Events of runs lead the way; this is for the case that there are none. */
const SELDOM_MS = 15_000;
const COLUMNS = ['Revision', 'Runs', 'Running', 'Failed'] as const;

export interface RunsByRevision {
  counted: number;
  isComplete: boolean;
  revisions: RevisionRuns[];
}

/** The runs of a deployment by revision, as they change. */
export function useRunsByRevision({ tenant_id: workspaceId, id }: Deployment): UseQueryResult<RunsByRevision> {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const query = runsByRevisionQuery(workspaceId, id);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive({ kind: 'runs', workspaceId }, () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: query.queryKey });
    }, REFETCH_MS);
  });
  return useQuery({ ...query, refetchInterval: SELDOM_MS });
}

/** Returns how many runs go on with other revisions; undefined while that is not known. */
export function drainingRuns(runs: RunsByRevision | undefined, revisionId: string): number | undefined {
  return runs?.revisions
    .filter((revision) => revision.revisionId !== revisionId)
    .reduce((sum, { running }) => sum + running, 0);
}

/** How many runs each revision executed, so that a worse one is seen before it is rolled back. */
export function RevisionRunsTable({
  deployment,
  revisionId,
  runs: { data, error, refetch },
}: {
  deployment: Deployment;
  revisionId: string;
  runs: UseQueryResult<RunsByRevision>;
}) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold">Runs by revision</h2>
      <Fault error={error} onRetry={() => void refetch()} />
      {!data && !error && <Loading what="runs" />}
      {data?.revisions.length === 0 && <p className="text-faint">No revision has executed a run yet.</p>}
      {data && data.revisions.length > 0 && (
        <div className="overflow-x-auto rounded border border-line bg-card">
          <table className="w-full text-left">
            <caption className="sr-only">Runs by the revision that executed them</caption>
            <thead className="text-xs text-faint">
              <tr className="border-b border-line">
                {COLUMNS.map((title) => (
                  <th key={title} scope="col" className="px-3 py-2 font-semibold">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.revisions.map((revision) => (
                <tr key={revision.revisionId} className="border-b border-line last:border-0">
                  <th scope="row" className="px-3 py-1.5 font-normal">
                    <span className="font-mono text-xs">{revision.revisionId.slice(-8)}</span>
                    {revision.revisionId === revisionId && <span className="ml-2 text-xs text-faint">this one</span>}
                    {revision.revisionId === deployment.active_revision_id && <ActiveMark />}
                  </th>
                  <td className="px-3 py-1.5">{revision.all}</td>
                  <td className="px-3 py-1.5">{revision.running}</td>
                  <td className={`px-3 py-1.5 ${revision.failed > 0 ? 'text-fault' : ''}`}>{revision.failed}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data && !data.isComplete && (
        <p className="text-xs text-faint">Counted are the newest {data.counted.toLocaleString()} runs.</p>
      )}
    </section>
  );
}
