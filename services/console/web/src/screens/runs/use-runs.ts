import type { RunSearchPage } from '@runyard/contracts';
import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLive } from '../../live/live.ts';
import { useThrottled } from '../../live/use-throttled.ts';
import { runsQuery, type SelectedRuns, searchRuns } from '../../platform/runs.ts';
import { mergeFirstPage } from './newer-runs.ts';

/**
 * The selected runs, page by page, with what happens to them. `isAtTop` tells whether one reads the newest of them: only
 * then others come in.
 */
export function useRuns(workspaceId: string, selected: SelectedRuns, isAtTop: () => boolean) {
  const queryClient = useQueryClient();
  const options = runsQuery(workspaceId, selected);
  // Pages that were read are shown at once when one comes back, and brought up to date from their top.
  const query = useInfiniteQuery({ ...options, refetchOnMount: false, refetchOnWindowFocus: false });
  const key = JSON.stringify(options.queryKey);
  const [newer, setNewer] = useState(0);
  const newest = useRef({ key, options, selected, isAtTop });
  newest.current = { key, options, selected, isAtTop };
  const check = useCallback(
    async (mayMove?: boolean) => {
      const { key, options, selected } = newest.current;
      const fresh = await searchRuns(workspaceId, selected);
      const known = queryClient.getQueryData<InfiniteData<RunSearchPage, string | undefined>>(options.queryKey);
      if (!known || newest.current.key !== key) return;
      const merged = mergeFirstPage(known.pages, fresh, mayMove ?? newest.current.isAtTop());
      const pageParams = [
        undefined,
        ...merged.pages.slice(0, -1).map(({ next_cursor: cursor }) => cursor ?? undefined),
      ];
      queryClient.setQueryData(options.queryKey, { pages: merged.pages, pageParams });
      setNewer(merged.newer);
    },
    [queryClient, workspaceId],
  );
  // A failure leaves the pages as they are, and the next change asks again.
  const checkSoon = useThrottled(() => void check().catch(() => {}));
  // Other filters have other runs, of which none is newer yet.
  useEffect(() => {
    setNewer(0);
    checkSoon();
  }, [key, checkSoon]);
  useLive({ kind: 'runs', workspaceId }, ({ event }) => {
    if (event === 'closed') return;
    checkSoon();
    void queryClient.invalidateQueries({ queryKey: ['runs', workspaceId, 'facets'] });
    void queryClient.invalidateQueries({ queryKey: ['runs', workspaceId, 'statistics'] });
  });
  return { ...query, newer, showNewer: () => check(true) };
}
