import type { Budget, Usage, UsageRequest } from '@runyard/contracts';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { usageQuery } from '../../platform/usage.ts';
import { useWorkspace } from '../../session/session.ts';
import { useUsageChanges } from '../usage/use-usage-changes.ts';
import { endOfPeriod, startOfPeriod } from './budget-period.ts';
import { usageRequestOf } from './budget-use.ts';

/** Timers of browsers may fire a little early. */
const GRACE_MS = 1_000;

/** Reads what is used of budgets in their present periods. Budgets that count the same are read once. */
export function useBudgetUse(workspaceId: string, budgets: readonly Budget[]) {
  const { may } = useWorkspace();
  const hour = usePresentHour();
  useUsageChanges(workspaceId);
  const requestOf = (budget: Budget) => usageRequestOf(budget, hour);
  const requests = new Map<string, UsageRequest>();
  for (const budget of budgets) {
    const request = requestOf(budget);
    if (request) requests.set(JSON.stringify(request), request);
  }
  const queries = useQueries({
    queries: [...requests.values()].map((request) => ({
      ...usageQuery(workspaceId, { budgets: request }, () => request),
      enabled: may('runs:read'),
    })),
  });
  const results = new Map([...requests.keys()].map((key, index) => [key, queries[index]?.data?.usage] as const));
  const failed = queries.filter(({ error }) => error);
  return {
    /** The present period of each budget is the one that this moment is in. */
    hour,
    /** Returns what is used of a budget; undefined where it is not known. */
    usageOf: (budget: Budget): Usage | undefined => results.get(JSON.stringify(requestOf(budget))),
    error: failed[0]?.error,
    retry: () => void Promise.all(failed.map((query) => query.refetch())),
  };
}

/** Returns when the present hour began. Each period begins with an hour. */
function usePresentHour(): number {
  const [hour, setHour] = useState(() => startOfPeriod('hour', Date.now()));
  useEffect(() => {
    const turn = () => setHour(startOfPeriod('hour', Date.now()));
    const timer = setTimeout(turn, endOfPeriod('hour', hour) - Date.now() + GRACE_MS);
    return () => clearTimeout(timer);
  }, [hour]);
  return hour;
}
