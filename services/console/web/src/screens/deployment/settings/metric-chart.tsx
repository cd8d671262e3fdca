import type { DeploymentMetrics } from '@runyard/contracts';
import { type Gauge, highest, linePath, newest } from './chart.ts';

const FRAME = { width: 300, height: 80 };
/** Lines differ by more than their colour. */
const LINES = [
  { className: 'stroke-action', dashes: undefined },
  { className: 'stroke-fault', dashes: '5 3' },
] as const;

export interface MetricChartProps {
  title: string;
  metrics: DeploymentMetrics;
  /** At most two. */
  series: readonly { gauge: Gauge; label: string }[];
  format: (value: number) => string;
}

/** A few gauges of the last hour as lines, and in words. */
export function MetricChart({ title, metrics, series, format }: MetricChartProps) {
  const top = highest(
    metrics,
    series.map(({ gauge }) => gauge),
  );
  const words = (value: number | null) => (value === null ? 'not measured' : format(value));
  const sentence = series
    .map(({ gauge, label }) => `${label} ${words(newest(metrics, gauge))}, at most ${words(highest(metrics, [gauge]))}`)
    .join('; ');
  return (
    <figure className="min-w-0 rounded border border-line bg-card p-3">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="font-semibold">{title}</span>
        <span className="text-xs text-faint">{top === null ? '' : `up to ${format(top)}`}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${title} in the last hour: ${sentence}`}
        viewBox={`-2 -2 ${FRAME.width + 4} ${FRAME.height + 4}`}
        preserveAspectRatio="none"
        className="my-2 h-20 w-full"
      >
        <path d={`M0 ${FRAME.height}H${FRAME.width}`} className="stroke-line" vectorEffect="non-scaling-stroke" />
        {series.map(({ gauge }, index) => (
          <path
            key={gauge}
            d={linePath(metrics, gauge, top ?? 0, FRAME)}
            fill="none"
            strokeWidth={2}
            strokeLinecap="round"
            strokeDasharray={LINES[index]?.dashes}
            vectorEffect="non-scaling-stroke"
            className={LINES[index]?.className}
          />
        ))}
      </svg>
      <p aria-hidden="true" className="flex flex-wrap gap-x-4 text-xs">
        {series.map(({ gauge, label }, index) => (
          <span key={gauge} className="inline-flex items-center gap-1.5">
            <svg aria-hidden="true" width="20" height="4">
              <path
                d="M0 2H20"
                strokeWidth={2}
                strokeDasharray={LINES[index]?.dashes}
                className={LINES[index]?.className}
              />
            </svg>
            {label} {words(newest(metrics, gauge))}
          </span>
        ))}
      </p>
    </figure>
  );
}
