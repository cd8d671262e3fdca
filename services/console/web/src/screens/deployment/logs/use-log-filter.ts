import type { LogLevel } from '@runyard/contracts';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { LogFilter } from './log-reader.ts';

export const LOG_LEVELS: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'];

const route = getRouteApi('/signed-in/w/$workspaceId/deployments/$deploymentId/logs');

/** The filter of the log, which is in the address of the page. */
export function useLogFilter(): { filter: LogFilter; setFilter: (filter: LogFilter) => void } {
  const { level, query } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = useMemo(() => ({ level: LOG_LEVELS.find((known) => known === level), query }), [level, query]);
  const setFilter = useCallback((search: LogFilter) => void navigate({ search, replace: true }), [navigate]);
  return { filter, setFilter };
}
