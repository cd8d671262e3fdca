import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Fault } from '../../components/fault.tsx';
import { formatDuration } from '../../components/time.tsx';
import { runStatisticsQuery } from '../../platform/runs.ts';
import { barsOf, rangeOf } from './run-bars.ts';
import { listOf, type RunFilters, selectionOf } from './run-filters.ts';

const HEIGHT = 32;

/** The numbers of the chosen range as bars, and in words. */
export function RunStatistics({ workspaceId, filters }: { workspaceId: string; filters: RunFilters }) {
  const { withinMs } = selectionOf(filters);
  const { from, to, deployment, graph } = filters;
  const key = { withinMs, from, to, deployment, graph };
  const request = () => {
    const { start, end, step } = rangeOf({ withinMs, from, to }, Date.now());
    return {
      start_time: new Date(start).toISOString(),
      end_time: new Date(end).toISOString(),
      step,
      ...(deployment && { deployment_ids: listOf(deployment) }),
      ...(graph && { graph_ids: listOf(graph) }),
    };
  };
  const { data, error, refetch } = useQuery({
    ...runStatisticsQuery(workspaceId, key, request),
    placeholderData: keepPreviousData,
  });
  const bars = useMemo(() => {
    if (!data) return [];
    const { start_time: start, end_time: end, step } = data.body;
    return barsOf(data.statistics.points, { start: Date.parse(start), end: Date.parse(end ?? start), step });
  }, [data]);
  if (error && !data) return <Fault error={error} onRetry={() => void refetch()} />;
  const highest = Math.max(1, ...bars.map(({ created }) => created));
  const total = data?.statistics.total;
  const failed = total ? total.error + total.timeout : 0;
  const hasOthers = Object.keys(selectionOf(filters).filters).some((name) => !OF_STATISTICS.has(name));
  const words = total
    ? [
        `${total.created.toLocaleString('en')} ${total.created === 1 ? 'run' : 'runs'}`,
        `${failed.toLocaleString('en')} failed`,
        `duration p50 ${formatDuration(total.duration_ms.p50)}, p95 ${formatDuration(total.duration_ms.p95)}`,
        `queue p95 ${formatDuration(total.queue_ms.p95)}`,
      ].join(' · ')
    : 'Loading …';
  const range = withinMs || from || to ? 'in the range' : 'in the last 30 days';
  return (
    <section aria-label="Statistics" className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <svg
        role="img"
        aria-label={`Runs and failed runs over time, ${bars.length} bars; the highest has ${highest} runs`}
        viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-8 w-60 max-w-full border-b border-line"
      >
        {bars.map(({ from, created, failed }, index) => {
          const height = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / highest) * HEIGHT));
          return (
            <g key={from}>
              <title>{`${new Date(from).toLocaleString()}: ${created} runs, ${failed} failed`}</title>
              <rect x={index} y={HEIGHT - height(created)} width={0.8} height={height(created)} className="fill-edge" />
              <rect x={index} y={HEIGHT - height(failed)} width={0.8} height={height(failed)} className="fill-fault" />
            </g>
          );
        })}
      </svg>
      <p className="text-xs text-faint">
        {words} {range}
        {hasOthers && ', without the other filters'}
      </p>
    </section>
  );
}

/** The filters that the numbers know. */
const OF_STATISTICS = new Set(['deployment_ids', 'graph_ids', 'created_after', 'created_before']);
