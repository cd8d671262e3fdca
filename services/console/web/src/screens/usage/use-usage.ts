import type { UsageGroup, UsageRow } from '@runyard/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { usageQuery } from '../../platform/usage.ts';
import { barsRequest, groupsOf, tableRequest, type UsageChoice } from './usage-choice.ts';
import { sumRows } from './usage-rows.ts';
import { useUsageChanges } from './use-usage-changes.ts';

const ROWS_MAX = 200;

/** The sums of the whole time, those with the most tokens. */
export interface UsageSums {
  groups: readonly UsageGroup[];
  rows: readonly UsageRow[];
  /** False when there are more. */
  isComplete: boolean;
}

/** The chosen usage, by time and told apart. It stays that of the choice before until the answers to another come. */
export function useUsage(workspaceId: string, choice: UsageChoice) {
  useUsageChanges(workspaceId);
  const { by: _, and: __, ...shown } = choice;
  const groups = groupsOf(choice);
  const bars = useQuery({
    ...usageQuery(workspaceId, { bars: shown }, () => barsRequest(choice, Date.now())),
    placeholderData: keepPreviousData,
  });
  const table = useQuery({
    ...usageQuery(workspaceId, { table: shown, groups }, () => tableRequest(choice, Date.now())),
    placeholderData: keepPreviousData,
  });
  const sums = useMemo((): UsageSums | undefined => {
    if (!table.data) return undefined;
    const { body, usage } = table.data;
    const groups = body.group_by ?? [];
    const rows = sumRows(usage.rows, groups);
    return { groups, rows: rows.slice(0, ROWS_MAX), isComplete: usage.is_complete && rows.length <= ROWS_MAX };
  }, [table.data]);
  return {
    bars: bars.data,
    sums,
    error: bars.error ?? table.error,
    refetch: () => {
      void bars.refetch();
      void table.refetch();
    },
  };
}
