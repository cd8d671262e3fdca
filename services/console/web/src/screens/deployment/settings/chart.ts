import type { DeploymentMetrics, DeploymentMetricsPoint } from '@runyard/contracts';

export type Gauge = Exclude<keyof DeploymentMetricsPoint, 'time'>;

export interface ChartFrame {
  width: number;
  height: number;
}

/** Returns the largest value of some gauges, and null where nothing was measured. */
export function highest({ points }: DeploymentMetrics, gauges: readonly Gauge[]): number | null {
  const values = points.flatMap((point) => gauges.map((gauge) => point[gauge])).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((one, other) => Math.max(one, other));
}

/** Returns the newest value that was measured. */
export function newest({ points }: DeploymentMetrics, gauge: Gauge): number | null {
  return points.findLast((point) => point[gauge] !== null)?.[gauge] ?? null;
}

/** Returns the path of a line through the values of a gauge. It breaks where nothing was measured. */
export function linePath(metrics: DeploymentMetrics, gauge: Gauge, top: number, { width, height }: ChartFrame): string {
  const { points, start_time: startTime, end_time: endTime, step_seconds: step } = metrics;
  const [start, end] = [Date.parse(startTime), Date.parse(endTime)];
  let before: number | undefined;
  return points
    .map((point) => {
      const [time, value] = [Date.parse(point.time), point[gauge]];
      if (value === null) return '';
      // Samples come a little early or late.
      const isBroken = before === undefined || time - before > 2_500 * step;
      before = time;
      const x = ((time - start) / (end - start)) * width;
      const y = height - (top === 0 ? 0 : (value / top) * height);
      return `${isBroken ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('');
}
