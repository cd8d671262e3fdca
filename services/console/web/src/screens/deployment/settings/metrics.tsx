import type { Deployment } from '@runyard/contracts';
import { useQuery } from '@tanstack/react-query';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { formatDuration } from '../../../components/time.tsx';
import { metricsQuery } from '../../../platform/deployments.ts';
import { MetricChart, type MetricChartProps } from './metric-chart.tsx';

const MIB = 1_048_576;
const count = (value: number) => Math.round(value).toLocaleString();
const cores = (value: number) => `${value.toFixed(2)} cores`;
const mebibytes = (value: number) => `${Math.round(value / MIB).toLocaleString()} MiB`;

const CHARTS: readonly Omit<MetricChartProps, 'metrics'>[] = [
  {
    title: 'Runs now',
    series: [
      { gauge: 'active_runs', label: 'active' },
      { gauge: 'pending_runs', label: 'pending' },
    ],
    format: count,
  },
  {
    title: 'Runs that ended',
    series: [
      { gauge: 'runs_succeeded', label: 'succeeded' },
      { gauge: 'runs_failed', label: 'failed' },
    ],
    format: count,
  },
  {
    title: 'Duration of runs',
    series: [
      { gauge: 'run_latency_ms_p50', label: 'p50' },
      { gauge: 'run_latency_ms_p95', label: 'p95' },
    ],
    format: formatDuration,
  },
  {
    title: 'Requests',
    series: [
      { gauge: 'requests', label: 'answered' },
      { gauge: 'request_errors', label: 'errors' },
    ],
    format: count,
  },
  {
    title: 'Processor',
    series: [
      { gauge: 'agent_api_cpu_cores', label: 'servers' },
      { gauge: 'run_worker_cpu_cores', label: 'workers' },
    ],
    format: cores,
  },
  {
    title: 'Memory',
    series: [
      { gauge: 'agent_api_memory_bytes', label: 'servers' },
      { gauge: 'run_worker_memory_bytes', label: 'workers' },
    ],
    format: mebibytes,
  },
  {
    title: 'Processes',
    series: [
      { gauge: 'agent_api_replicas', label: 'servers' },
      { gauge: 'run_worker_replicas', label: 'workers' },
    ],
    format: count,
  },
  {
    title: 'Database',
    series: [{ gauge: 'database_bytes', label: 'size' }],
    format: mebibytes,
  },
];

/** Shows the metrics of a deployment over the last hour. */
export function Metrics({ deployment }: { deployment: Deployment }) {
  const { data, error, refetch } = useQuery(metricsQuery(deployment.tenant_id, deployment.id));
  return (
    <>
      <Fault error={error} onRetry={() => void refetch()} />
      {!data && !error && <Loading what="metrics" />}
      {data?.points.length === 0 && <p className="text-faint">Nothing was measured in the last hour.</p>}
      {data && data.points.length > 0 && (
        <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
          {CHARTS.map((chart) => (
            <MetricChart key={chart.title} metrics={data} {...chart} />
          ))}
        </div>
      )}
    </>
  );
}
