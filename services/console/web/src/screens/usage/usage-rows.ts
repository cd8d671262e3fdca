import type { UsageFigures, UsageGroup, UsageRow } from '@runyard/contracts';
import type { RunFilters } from '../runs/run-filters.ts';

/** The values by which a row is told apart. */
export type GroupValues = Pick<UsageRow, 'model' | 'deployment_id' | 'assistant_id' | 'creator' | 'key_id'>;

/** Returns the value of a row in a group as filters have it; undefined for a row of no value. */
export function filterValue(row: GroupValues, group: UsageGroup): string | undefined {
  switch (group) {
    case 'model':
      return row.model?.model;
    case 'deployment':
      return row.deployment_id;
    case 'assistant':
      return row.assistant_id;
    case 'creator':
      return row.creator?.identity || undefined;
    case 'key':
      return row.key_id ?? undefined;
  }
}

/** Returns a text that two rows have in common when they are of the same values in some groups. */
export function keyOf(row: UsageRow, groups: readonly UsageGroup[]): string {
  return JSON.stringify(groups.map((group) => [filterValue(row, group), ofSameName(row, group)]));
}

/** Returns the part of a value that tells it from others by which runs and usage are found together with it. */
function ofSameName(row: UsageRow, group: UsageGroup): string | undefined {
  if (group === 'model') return row.model?.provider;
  return group === 'creator' ? row.creator?.kind : undefined;
}

/** Adds up the rows of several times, or of the values of other groups. The most tokens come first. */
export function sumRows(rows: readonly UsageRow[], groups: readonly UsageGroup[]): UsageRow[] {
  const sums = new Map<string, UsageRow>();
  for (const row of rows) {
    const key = keyOf(row, groups);
    const sum = sums.get(key);
    sums.set(key, sum ? { ...sum, ...added(sum, row) } : { ...row, time: null });
  }
  return [...sums.values()].sort((one, other) => other.total_tokens - one.total_tokens || other.runs - one.runs);
}

/**
 * Returns the filters of the runs that a row is about; undefined for a row whose values no filter of runs has, as it is
 * with models.
 */
export function runsOfRow(
  row: UsageRow,
  groups: readonly UsageGroup[],
  shown: { from: string; to: string | undefined; deployment: string | undefined },
): RunFilters | undefined {
  const { model: _, ...values } = Object.fromEntries(
    groups.map((group) => [group, filterValue(row, group)]),
  ) as Partial<Record<UsageGroup, string | undefined>>;
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  if (known.length === 0) return undefined;
  return {
    ...(shown.deployment !== undefined && { deployment: shown.deployment }),
    ...Object.fromEntries(known),
    from: shown.from,
    ...(shown.to !== undefined && { to: shown.to }),
  };
}

const FIGURES = [
  'runs',
  'model_calls',
  'tool_calls',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
  'reasoning_tokens',
] as const satisfies (keyof UsageFigures)[];

function added(one: UsageFigures, other: UsageFigures): UsageFigures {
  return Object.fromEntries(FIGURES.map((figure) => [figure, one[figure] + other[figure]])) as UsageFigures;
}
