import type { UsageFigures } from '@runyard/contracts';

/** The sums of all usage that is shown. @param isOfModel whether it is that of one model, which has no runs and tools */
export function UsageTotals({ total, isOfModel }: { total: UsageFigures; isOfModel: boolean }) {
  const figures: [string, number][] = [
    ...(isOfModel ? [] : ([['Runs', total.runs]] satisfies [string, number][])),
    ['Model calls', total.model_calls],
    ...(isOfModel ? [] : ([['Tool calls', total.tool_calls]] satisfies [string, number][])),
    ['Input tokens', total.input_tokens],
    ['Cached of these', total.cache_read_tokens],
    ['Output tokens', total.output_tokens],
    ['Reasoning of these', total.reasoning_tokens],
    ['All tokens', total.total_tokens],
  ];
  return (
    <dl aria-label="Totals" className="flex flex-wrap gap-x-8 gap-y-2">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="text-base font-semibold tabular-nums">{value.toLocaleString('en')}</dd>
        </div>
      ))}
    </dl>
  );
}
