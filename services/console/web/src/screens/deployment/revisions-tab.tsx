import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Table } from '../../components/table.tsx';
import { isUnderWay, revisionsQuery } from '../../platform/revisions.ts';
import { RevisionRow } from './revision-row.tsx';
import { useDeployment } from './use-deployment.ts';

const WATCHED_MS = 2_000;
const SELDOM_MS = 30_000;

/** The revisions of a deployment, newest first. */
export function RevisionsTab() {
  const { deployment } = useDeployment();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...revisionsQuery(deployment.tenant_id, deployment.id),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ resources }) => resources.some(isUnderWay)) ? WATCHED_MS : SELDOM_MS,
  });
  const revisions = data?.pages.flatMap(({ resources }) => resources) ?? [];
  return (
    <>
      <Fault error={error} onRetry={() => void refetch()} />
      {!data && !error && <Loading what="revisions" />}
      {data && revisions.length === 0 && <Empty title="No revision yet">Deploy something to it to make one.</Empty>}
      {revisions.length > 0 && (
        <Table
          caption="Revisions, newest first"
          columns={['Revision', 'Status', 'Source', 'Made', 'Changed', 'Actions']}
        >
          {revisions.map((revision) => (
            <RevisionRow key={revision.id} deployment={deployment} revision={revision} />
          ))}
        </Table>
      )}
      {hasNextPage && (
        <Button
          className="self-start"
          unavailable={isFetchingNextPage ? 'They are being read' : undefined}
          onClick={() => void fetchNextPage()}
        >
          Older revisions
        </Button>
      )}
    </>
  );
}
