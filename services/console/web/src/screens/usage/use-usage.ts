import type { UsageGroup, UsageRow } from '@runyard/contracts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { useLive } from '../../live/live.ts';
import { usageQuery } from '../../platform/usage.ts';
import { barsRequest, groupsOf, tableRequest, type UsageChoice } from './usage-choice.ts';
import { sumRows } from './usage-rows.ts';

/** Usage changes all the time while runs go on, and is sums of much. */
const EVERY_MS = 10_000;
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
  useChanges(workspaceId);
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

/** Asks for usage again after runs have changed. */
function useChanges(workspaceId: string): void {
  const queryClient = useQueryClient();
  const isDue = useRef(false);
  useLive({ kind: 'runs', workspaceId }, ({ event }) => {
    if (event === 'runs_changed') isDue.current = true;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!isDue.current || document.hidden) return;
      isDue.current = false;
      void queryClient.invalidateQueries({ queryKey: ['usage', workspaceId] });
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [queryClient, workspaceId]);
}
