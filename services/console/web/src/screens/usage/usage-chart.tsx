import type { UsageGroup, UsageRequest, UsageRow } from '@runyard/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { StackedBars } from '../../components/stacked-bars.tsx';
import { usageQuery } from '../../platform/usage.ts';
import { topRows, usageBars } from './usage-bars.ts';
import { GROUPS, seriesRequest, type UsageChoice } from './usage-choice.ts';
import { filterValue, keyOf, sumRows } from './usage-rows.ts';
import type { UsageName } from './use-names.ts';

interface UsageChartProps {
  workspaceId: string;
  choice: UsageChoice;
  group: UsageGroup;
  /** The sums by time, and the request for them. */
  all: { body: UsageRequest; rows: readonly UsageRow[] };
  /** The sums of the whole time. */
  table: { rows: readonly UsageRow[]; isComplete: boolean };
  nameOf: (row: UsageRow, group: UsageGroup) => UsageName;
}

/** Tokens by time, with those of the values of the first group that have the most. */
export function UsageChart({ workspaceId, choice, group, all, table, nameOf }: UsageChartProps) {
  const tops = topRows(table.rows, group);
  const values = [...new Set(tops.flatMap((row) => filterValue(row, group) ?? []))];
  const { and: _, ...shown } = choice;
  const { data } = useQuery({
    ...usageQuery(workspaceId, { series: shown, group, values }, () => seriesRequest(choice, Date.now(), values)),
    enabled: values.length > 0,
    placeholderData: keepPreviousData,
  });
  const { start_time: start, end_time: end, step } = all.body;
  const bars = usageBars(
    { start: Date.parse(start), end: Date.parse(end!), step: step as 'hour' | 'day' | 'month' },
    { all: all.rows, series: data?.usage.rows ?? [], group, tops },
  );
  const rest = restOf(table, group, tops);
  const words = ({ name, detail }: UsageName) => (detail ? `${name} (${detail})` : name);
  return (
    <StackedBars
      title={`Tokens by ${step} and ${GROUPS[group].toLowerCase()}`}
      unit="tokens"
      bars={bars}
      parts={[...tops.map((row) => words(nameOf(row, group))), rest ? words(nameOf(rest, group)) : 'Others']}
    />
  );
}

/** Returns the one value with tokens that has no part of its own; undefined where there are several. */
function restOf(
  { rows, isComplete }: UsageChartProps['table'],
  group: UsageGroup,
  tops: readonly UsageRow[],
): UsageRow | undefined {
  const keys = new Set(tops.map((row) => keyOf(row, [group])));
  const others = sumRows(rows, [group]).filter((row) => row.total_tokens > 0 && !keys.has(keyOf(row, [group])));
  return isComplete && others.length === 1 ? others[0] : undefined;
}
