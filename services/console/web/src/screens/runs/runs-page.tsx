import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { Page } from '../../components/page.tsx';
import { deploymentsQuery } from '../../platform/deployments.ts';
import { runFacetsQuery } from '../../platform/runs.ts';
import { useWorkspace } from '../../session/session.ts';
import { CancelRuns } from './cancel-runs.tsx';
import { ReplayRuns } from './replay-runs.tsx';
import { type RunFilters, selectionOf } from './run-filters.ts';
import { RunStatistics } from './run-statistics.tsx';
import { RunsFilterForm, StatusChips } from './runs-filter-form.tsx';
import { RunsTable } from './runs-table.tsx';
import { useRuns } from './use-runs.ts';
import { useSelection } from './use-selection.ts';

const ROUTE = '/w/$workspaceId/runs';

/** The runs of a workspace, across its deployments and threads. The filters are those of the address. */
export function RunsPage() {
  const { id: workspaceId } = useWorkspace();
  const filters = useSearch({ strict: false }) as RunFilters;
  const navigate = useNavigate({ from: ROUTE });
  const scroller = useRef<HTMLDivElement>(null);
  const selected = useMemo(() => selectionOf(filters), [filters]);
  const { data: deployments } = useQuery(deploymentsQuery(workspaceId));
  const facets = useQuery({ ...runFacetsQuery(workspaceId, selected), placeholderData: keepPreviousData });
  const isAtTop = useCallback(() => (scroller.current?.scrollTop ?? 0) < 1, []);
  const search = useRuns(workspaceId, selected, isAtTop);
  const runs = useMemo(() => search.data?.pages.flatMap((page) => page.runs) ?? [], [search.data]);
  const names = useMemo(() => new Map(deployments?.map(({ id, name }) => [id, name])), [deployments]);
  const selection = useSelection(runs);
  const change = (filters: RunFilters) => void navigate({ search: filters, resetScroll: false });
  const showNewer = () => {
    void search.showNewer();
    scroller.current?.scrollTo({ top: 0 });
  };
  const { fetchNextPage } = search;
  const more = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const hasFilters = Object.keys(filters).length > 0;
  const form = <RunsFilterForm {...{ filters, deploymentNames: names }} facets={facets.data} onChange={change} />;
  return (
    <Page
      title="Runs"
      actions={
        hasFilters && (
          <Button size="small" onClick={() => change({})}>
            Clear the filters
          </Button>
        )
      }
    >
      <RunStatistics {...{ workspaceId, filters }} />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <StatusChips filters={filters} facets={facets.data} onChange={change} />
        <div className="flex flex-wrap gap-2">
          <ReplayRuns runs={selection.runs} />
          <CancelRuns runs={selection.runs} onDone={() => selection.selectAll(false)} />
        </div>
      </div>
      <details className="rounded border border-line bg-card p-2 lg:hidden">
        <summary className="cursor-pointer font-medium">Filters</summary>
        <div className="pt-2">{form}</div>
      </details>
      <Fault error={search.error ?? facets.error} onRetry={() => void search.refetch()} />
      <p role="status" className="sr-only">
        {search.data && `${runs.length} runs are shown${search.hasNextPage ? ', and there are more' : ''}`}
      </p>
      <div className="flex min-h-0 grow basis-96 gap-4">
        <aside aria-label="Filters" className="relative hidden w-56 shrink-0 lg:block">
          <div className="absolute inset-0 overflow-y-auto p-0.5 pr-2">{form}</div>
        </aside>
        <div className="relative min-h-96 min-w-0 grow">
          {search.newer > 0 && (
            <div className="absolute top-11 left-1/2 z-20 -translate-x-1/2">
              <Button look="first" size="small" onClick={showNewer}>
                {search.newer} newer {search.newer === 1 ? 'run' : 'runs'} ↑
              </Button>
            </div>
          )}
          {search.isPending ? (
            <Loading what="the runs" />
          ) : runs.length === 0 && !search.hasNextPage && !search.error ? (
            <Empty title={hasFilters ? 'No run is like this' : 'There are no runs yet'}>
              {hasFilters
                ? 'Take a filter away, or choose a longer time.'
                : 'Start one on the chat page, or through the API of a deployment.'}
            </Empty>
          ) : (
            <RunsTable
              {...{ scroller, runs, workspaceId, selection }}
              deploymentNames={names}
              hasMore={search.hasNextPage && !search.isFetchingNextPage && !search.isFetchNextPageError}
              onMore={more}
            />
          )}
          {search.isFetchingNextPage && (
            <div className="absolute right-2 bottom-2 rounded border border-line bg-card px-2">
              <Loading what="more runs" />
            </div>
          )}
        </div>
      </div>
    </Page>
  );
}
