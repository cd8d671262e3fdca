import { WORKLOADS, type WorkloadName } from '../load/workloads.ts';
import type { Measurement } from '../measurement.ts';

/** Formats all measurements for a person: per workload a row for each number of clients, targets side by side. */
export function formatTables(measurements: Measurement[]): string {
  const targets = [...new Set(measurements.map(({ target }) => target))];
  const workloads = [...new Set(measurements.map(({ workload }) => workload))];
  return [
    ...workloads.map((workload) => speedTable(workload, targets, measurements)),
    ...workloads.map((workload) => cpuTable(workload, targets, measurements)),
    ...targets.map((target) => profile(target, measurements)),
    failures(measurements),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function speedTable(workload: WorkloadName, targets: string[], measurements: Measurement[]): string {
  const roundsOf = (target: string, clients: number) =>
    measurements
      .filter((m) => m.workload === workload && m.target === target && m.clients === clients)
      .sort((a, b) => a.round - b.round);
  const of = (target: string, clients: number) => merged(roundsOf(target, clients));
  const levels = [...new Set(measurements.map(({ clients }) => clients))];
  const [first = '', ...others] = targets;
  const header = [
    'clients',
    ...targets.flatMap((target) => [`${target}: per s`, 'p50 ms', 'p99 ms']),
    ...others.flatMap((other) => [`${first}/${other}`, 'p50']),
    `vs ${levels[0]} client`,
  ];
  const rows = levels.map((clients) => {
    const here = of(first, clients);
    return [
      String(clients),
      ...targets.flatMap((target) => {
        const { perSecond, p50Ms, p99Ms } = of(target, clients);
        return [perSecond.toFixed(0), p50Ms.toFixed(1), p99Ms.toFixed(1)];
      }),
      ...others.flatMap((other) =>
        (['perSecond', 'p50Ms'] as const).map((figure) =>
          middleRatio(figure, roundsOf(first, clients), roundsOf(other, clients)),
        ),
      ),
      ratio(here.perSecond, of(first, levels[0] ?? clients).perSecond),
    ];
  });
  return `${WORKLOADS[workload].title}\n${aligned([header, ...rows])}`;
}

/** Returns the middle ratio of all rounds: in a round the targets take turns of seconds. */
function middleRatio(figure: 'perSecond' | 'p50Ms', rounds: Measurement[], others: Measurement[]): string {
  return ratio(middle(rounds.map((m, round) => m[figure] / (others[round]?.[figure] || Number.NaN))), 1);
}

/**
 * Formats the processor time of an operation without the load driver's, targets side by side. A ratio is the middle one
 * of all rounds: in a round the targets take turns, so that a busy moment of the machine is in both of its sides.
 */
function cpuTable(workload: WorkloadName, targets: string[], measurements: Measurement[]): string {
  const of = (target: string, clients: number) =>
    measurements
      .filter((m) => m.workload === workload && m.target === target && m.clients === clients)
      .map(({ cpuMsPerOperation: { 'load driver': _, ...parts } }) =>
        Object.values(parts).reduce((sum, ms) => sum + ms, 0),
      );
  const levels = [...new Set(measurements.map(({ clients }) => clients))];
  const measured = targets.filter((target) => levels.some((clients) => middle(of(target, clients)) > 0));
  const [first, ...others] = measured;
  if (first === undefined) return '';
  const header = [
    'clients',
    ...measured.map((target) => `${target}: cpu ms`),
    ...others.map((each) => `${each}/${first}`),
    ...(others.length > 1 ? [`${others.at(-1)}/${others.at(-2)}`] : []),
  ];
  const rows = levels.map((clients) => {
    const between = (a: string, b: string) => {
      const below = of(b, clients);
      return ratio(middle(of(a, clients).map((ms, round) => ms / (below[round] || Number.NaN))), 1);
    };
    return [
      String(clients),
      ...measured.map((target) => middle(of(target, clients)).toFixed(2)),
      ...others.map((other) => between(other, first)),
      ...(others.length > 1 ? [between(others.at(-1)!, others.at(-2)!)] : []),
    ];
  });
  return `Processor milliseconds each, ${WORKLOADS[workload].title}\n${aligned([header, ...rows])}`;
}

/**
 * Formats where the time goes with the most clients: processor time per part, and the times that the servers measured.
 */
function profile(target: string, measurements: Measurement[]): string {
  const most = Math.max(...measurements.map(({ clients }) => clients));
  const shown = measurements.find((m) => m.target === target && m.clients === most && m.workload === 'durable');
  if (!shown) return '';
  const cpu = Object.entries(shown.cpuMsPerOperation).filter(([, ms]) => ms >= 0.01);
  const stages = Object.entries(shown.stages)
    .sort(([, a], [, b]) => b.meanMs * b.perOperation - a.meanMs * a.perOperation)
    .slice(0, 12);
  const parts = [`Where the time of a durable run goes, ${target} with ${most} clients`];
  if (cpu.length > 1)
    parts.push(aligned([['processor ms per run', ''], ...cpu.map(([part, ms]) => [part, ms.toFixed(2)])]));
  if (stages.length > 0) {
    const rows = stages.map(([name, { meanMs, perOperation }]) => [name, meanMs.toFixed(2), perOperation.toFixed(2)]);
    parts.push(aligned([['measured by the servers', 'ms each', 'per run'], ...rows]));
  }
  return parts.length > 1 ? parts.join('\n') : '';
}

function failures(measurements: Measurement[]): string {
  return measurements
    .filter((m) => m.failures > 0)
    .map((m) => `${m.failures} failed: ${m.target}, ${m.workload}, ${m.clients} clients. The first: ${m.firstFailure}`)
    .join('\n');
}

/** Merges rounds into one: throughput on average, the middle of their percentiles. */
function merged(rounds: Measurement[]): { perSecond: number; p50Ms: number; p99Ms: number } {
  const perSecond = rounds.reduce((sum, m) => sum + m.perSecond, 0) / Math.max(rounds.length, 1);
  return { perSecond, p50Ms: middle(rounds.map((m) => m.p50Ms)), p99Ms: middle(rounds.map((m) => m.p99Ms)) };
}

function middle(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

function ratio(a: number, b: number): string {
  return b > 0 ? `${(a / b).toFixed(2)}×` : '–';
}

/** Makes columns as wide as their widest cell; the first is aligned left, numbers right. */
function aligned(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n');
}
