import { useId } from 'react';
import { Cell, HeadCell, Row, Table } from './table.tsx';

export interface StackedBar {
  label: string;
  /** One for each part, from the bottom to the top. */
  values: readonly number[];
}

interface StackedBarsProps {
  /** The sentence that says what is shown: `Tokens by day`. */
  title: string;
  unit: string;
  /** The names of the parts, five at most. */
  parts: readonly string[];
  bars: readonly StackedBar[];
}

/** Parts differ by more than their colour. */
const FILLS: readonly Fill[] = [
  { ground: 'fill-action' },
  { ground: 'fill-good', path: 'M0 0V6' },
  { ground: 'fill-wait' },
  { ground: 'fill-fault', path: 'M3 3h.01' },
  { ground: 'fill-edge' },
];

interface Fill {
  ground: string;
  /** A line that leaves out some of the ground. */
  path?: string;
}

/** Numbers over time as bars with several parts, and as a table. */
export function StackedBars({ title, unit, parts, bars }: StackedBarsProps) {
  const id = useId();
  const highest = bars.reduce((one, other) => (sumOf(other) > sumOf(one) ? other : one), bars[0]!);
  const top = Math.max(1, sumOf(highest));
  const shown = parts.flatMap((part, index) =>
    bars.some(({ values }) => values[index]! > 0) ? [{ part, index }] : [],
  );
  const paintOf = (index: number) => {
    const fill: Fill = FILLS[index]!;
    return fill.path ? { fill: `url(#${id}-${index})` } : { className: fill.ground };
  };
  return (
    <figure className="flex min-w-0 flex-col gap-1">
      <svg aria-hidden="true" width="0" height="0" className="absolute">
        <defs>
          {FILLS.map(
            ({ ground, path }, index) => path && <Texture key={ground} id={`${id}-${index}`} {...{ ground, path }} />,
          )}
        </defs>
      </svg>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 text-xs">
        <span className="font-semibold">{title}</span>
        <span className="text-faint">
          up to {count(top)} {unit}
        </span>
      </div>
      <svg
        role="img"
        aria-label={`${title}, ${bars.length} bars; the most on ${highest.label}: ${count(sumOf(highest))} ${unit}. The table below has the numbers.`}
        className="h-32 w-full border-b border-line"
      >
        {bars.map((bar, index) => (
          <Bar key={bar.label} {...{ bar, parts, top, paintOf }} slot={{ index, of: bars.length }} />
        ))}
      </svg>
      <div aria-hidden="true" className="flex justify-between gap-2 text-xs text-faint">
        <span>{bars[0]!.label}</span>
        <span>{bars.at(-1)!.label}</span>
      </div>
      <figcaption className="flex flex-col gap-1 text-xs">
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {shown.map(({ part, index }) => (
            <li key={index} className="inline-flex min-w-0 items-center gap-1.5 [overflow-wrap:anywhere]">
              <svg aria-hidden="true" width="14" height="14" className="shrink-0">
                <rect width="14" height="14" {...paintOf(index)} />
              </svg>
              {part}
            </li>
          ))}
        </ul>
        <details>
          <summary className="cursor-pointer">Numbers of the chart</summary>
          <Table caption={title} columns={['Time', ...shown.map(({ part }) => part), 'Together']}>
            {bars
              .filter((bar) => sumOf(bar) > 0)
              .map((bar) => (
                <Row key={bar.label}>
                  <HeadCell>{bar.label}</HeadCell>
                  {shown.map(({ part, index }) => (
                    <Cell key={index} label={part}>
                      {count(bar.values[index]!)}
                    </Cell>
                  ))}
                  <Cell label="Together">{count(sumOf(bar))}</Cell>
                </Row>
              ))}
          </Table>
        </details>
      </figcaption>
    </figure>
  );
}

interface BarProps {
  bar: StackedBar;
  parts: readonly string[];
  /** The number that reaches to the top. */
  top: number;
  slot: { index: number; of: number };
  paintOf: (index: number) => { fill?: string; className?: string };
}

function Bar({ bar, parts, top, slot, paintOf }: BarProps) {
  const percent = (share: number) => `${(100 * share).toFixed(3)}%`;
  const words = bar.values.flatMap((value, index) => (value > 0 ? [`${parts[index]}: ${count(value)}`] : []));
  let below = 0;
  return (
    <g>
      <title>{[bar.label, ...words].join('\n')}</title>
      <rect
        x={percent(slot.index / slot.of)}
        width={percent(1 / slot.of)}
        height="100%"
        className="fill-transparent hover:fill-raised"
      />
      {bar.values.map((value, index) => {
        below += value;
        return value > 0 ? (
          <rect
            key={index}
            x={percent((slot.index + 0.1) / slot.of)}
            width={percent(0.8 / slot.of)}
            y={percent(1 - below / top)}
            height={percent(value / top)}
            pointerEvents="none"
            {...paintOf(index)}
          />
        ) : null;
      })}
    </g>
  );
}

function Texture({ id, ground, path }: Fill & { id: string; path: string }) {
  return (
    <pattern id={id} patternUnits="userSpaceOnUse" width="6" height="6" patternTransform="rotate(45)">
      <rect width="6" height="6" className={ground} />
      <path d={path} strokeWidth="3" strokeLinecap="round" className="stroke-card" />
    </pattern>
  );
}

function sumOf({ values }: StackedBar): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function count(value: number): string {
  return value.toLocaleString('en');
}
