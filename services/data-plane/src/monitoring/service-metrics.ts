import { probeReplica } from '../probes/probe-replica.ts';
import { type MetricLine, parseMetricsText } from './metrics-text.ts';

/** Counters of a service since its start, and its current values. Values that it does not report are missing. */
export interface ServiceMetrics {
  pendingRuns?: number;
  activeRuns?: number;
  runSlots?: number;
  runsSucceeded?: number;
  runsFailed?: number;
  requests?: number;
  requestErrors?: number;
  /** Cumulative counts of requests by their bound in milliseconds; `Infinity` counts all. */
  requestLatency?: Map<number, number>;
  runLatency?: Map<number, number>;
}

const TIMEOUT_MS = 2_000;
/** Workers and servers answer some hundred kilobytes; a project that serves `/metrics` itself may answer anything. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** Returns null when the service does not answer in time or not with metrics. */
export async function readServiceMetrics(url: string): Promise<ServiceMetrics | null> {
  try {
    const answer = await probeReplica(`${url}/metrics`, AbortSignal.timeout(TIMEOUT_MS));
    if (!answer.ok || !answer.body) {
      await answer.body?.cancel();
      return null;
    }
    const text = await readLimited(answer.body);
    const lines = text === null ? [] : parseMetricsText(text);
    return lines.length === 0 ? null : parseServiceMetrics(lines);
  } catch {
    return null;
  }
}

/** Returns null when the body is too long, without reading the rest. */
async function readLimited(body: NonNullable<Response['body']>): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The platform itself requests these paths all the time, so they say nothing about the deployment. */
const OWN_PATHS: ReadonlySet<unknown> = new Set(['/ok', '/metrics']);

/** Recognizes metrics by the ends of their names, because the deployment chooses the prefix (`METRIC_PREFIX`). */
export function parseServiceMetrics(lines: MetricLine[]): ServiceMetrics {
  const linesOf = (ending: string) => {
    const name = lines.find(({ name }) => name === ending || name.endsWith(`_${ending}`))?.name;
    if (name === undefined) return undefined;
    return lines.filter((line) => line.name === name && !OWN_PATHS.has(line.labels.path));
  };
  const sum = (ending: string, counts: (status: string) => boolean = () => true) =>
    linesOf(ending)
      ?.filter(({ labels }) => counts(String(labels.status)))
      .reduce((total, { value }) => total + value, 0);
  return omitMissing({
    pendingRuns: sum('num_pending_runs'),
    activeRuns: sum('num_running_runs'),
    runSlots: sum('workers_max'),
    runsSucceeded: sum('run_success_counter'),
    runsFailed: sum('run_set_status_error_counter'),
    requests: sum('http_requests_total'),
    requestErrors: sum('http_requests_total', (status) => status.startsWith('5')),
    requestLatency: bucketsOf(linesOf('http_requests_latency_bucket')),
    runLatency: bucketsOf(linesOf('run_execution_latency_bucket')),
  });
}

function bucketsOf(lines: MetricLine[] | undefined): Map<number, number> | undefined {
  if (!lines) return undefined;
  const buckets = new Map<number, number>();
  for (const { value, labels } of lines) {
    const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return buckets;
}

/**
 * Returns the milliseconds within which this share of the requests ended, interpolated in the buckets; null without
 * requests.
 */
export function quantile(buckets: Map<number, number>, share: number): number | null {
  const bounds = [...buckets.keys()].sort((one, other) => one - other);
  const wanted = (buckets.get(Infinity) ?? 0) * share;
  if (wanted === 0) return null;
  let [lower, below] = [0, 0];
  for (const bound of bounds) {
    const upTo = buckets.get(bound) ?? 0;
    if (upTo >= wanted) {
      // Values above the highest bound are unknown.
      if (bound === Infinity) return lower;
      return lower + ((bound - lower) * (wanted - below)) / (upTo - below);
    }
    [lower, below] = [bound, upTo];
  }
  return lower;
}

function omitMissing(metrics: { [Name in keyof ServiceMetrics]: ServiceMetrics[Name] | undefined }): ServiceMetrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== undefined));
}
