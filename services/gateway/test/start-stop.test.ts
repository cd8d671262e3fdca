import { silentLogger as logger } from '@runyard/service-kit';
import { type BackgroundPart, startStopStorm } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { OpenExchanges } from '../src/authentication/open-exchanges.ts';
import { UnresponsiveUpstreams } from '../src/proxy/unresponsive-upstreams.ts';
import { DeploymentTable } from '../src/routing/deployment-table.ts';
import { RouteFeed } from '../src/routing/route-feed.ts';

/** Milliseconds between rounds of periodic parts. */
const EVERY_MS = 5;

const parts: BackgroundPart[] = [
  {
    name: 'the feed of routes',
    open: () =>
      new RouteFeed({
        table: new DeploymentTable(),
        fetchSnapshot: async () => ({ routes: [] }),
        refreshMs: EVERY_MS,
        logger,
      }),
  },
  { name: 'the recheck of open exchanges', open: () => new OpenExchanges({ maxPerKey: 10, logger }) },
  { name: 'the watch over upstreams', open: () => new UnresponsiveUpstreams({ probeAfterMs: 4 * EVERY_MS, logger }) },
];

it.each(parts)('$name can be started and stopped at any moment, and leaves nothing behind', async (part) => {
  expect((await startStopStorm(part)).faults).toEqual([]);
});
