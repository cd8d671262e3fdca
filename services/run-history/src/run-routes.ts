import {
  countRunFacets,
  exportUsage,
  getRunOfHistory,
  readRunStatistics,
  readUsage as readUsageOperation,
  searchRuns,
  watchRunChanges,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok, SSE_HEADERS } from '@runyard/service-kit';
import type pg from 'pg';
import type { VisibleDeployments } from './access/visible-deployments.ts';
import type { ChangeStreams } from './changes/change-streams.ts';
import type { RunSearch } from './search/run-search.ts';
import { readStatistics } from './statistics/read-statistics.ts';
import { readUsage } from './usage/read-usage.ts';
import { writeUsageFile } from './usage/usage-file.ts';

interface Services {
  pool: pg.Pool;
  visible: VisibleDeployments;
  search: RunSearch;
  streams: ChangeStreams;
}

export function runRoutes({ pool, visible, search, streams }: Services): BoundOperation[] {
  return [
    bind(searchRuns, async ({ caller, body }) => ok(await search.search(await visible.scopeOf(caller), body))),
    bind(countRunFacets, async ({ caller, body }) => ok(await search.countFacets(await visible.scopeOf(caller), body))),
    bind(readRunStatistics, async ({ caller, body }) =>
      ok(await readStatistics(pool, await visible.scopeOf(caller), body)),
    ),
    bind(readUsageOperation, async ({ caller, body: { limit, ...request } }) =>
      ok(await readUsage(pool, await visible.scopeOf(caller), request, limit)),
    ),
    bind(exportUsage, async ({ caller, body }) =>
      ok(await writeUsageFile(pool, await visible.scopeOf(caller), body), {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="usage.csv"',
      }),
    ),
    bind(getRunOfHistory, async ({ caller, params }) =>
      ok(await search.get(await visible.scopeOf(caller), params.run_id)),
    ),
    bind(watchRunChanges, async ({ caller, query, raw, res, log }) => {
      // Its answer has no body, so it would stay open for nothing.
      if (raw.method === 'HEAD') return void res.writeHead(200, SSE_HEADERS).end();
      await streams.open({ caller, deploymentIds: query.deployment_ids, res, log });
    }),
  ];
}
