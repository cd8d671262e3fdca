import { randomUUID } from 'node:crypto';
import { silentLogger as logger } from '@runyard/service-kit';
import type pg from 'pg';
import { LeasedOwnership } from '../../../../services/control-plane/src/reconciler/ownership.ts';
import { Reconciler } from '../../../../services/control-plane/src/reconciler/reconciler.ts';
import { OpenExchanges } from '../../../../services/gateway/src/authentication/open-exchanges.ts';
import { UnresponsiveUpstreams } from '../../../../services/gateway/src/proxy/unresponsive-upstreams.ts';
import { DeploymentTable } from '../../../../services/gateway/src/routing/deployment-table.ts';
import { RouteFeed } from '../../../../services/gateway/src/routing/route-feed.ts';
import { LastUseRecorder } from '../../../../services/org-access/src/api-keys/last-use-recorder.ts';
import type { BackgroundPart } from '../start-stop-storm.ts';
import { EVERY_MS, type PartServers } from './part-servers.ts';

const nothingIsUsed = {} as ConstructorParameters<typeof LastUseRecorder>[0]['prisma'];

/** Returns the background parts of gateway, control-plane and org-access. */
export function platformParts({ pool }: PartServers): BackgroundPart[] {
  return [
    {
      name: 'route feed',
      open: () =>
        new RouteFeed({
          table: new DeploymentTable(),
          fetchSnapshot: async () => ({ routes: [] }),
          refreshMs: EVERY_MS,
          logger,
        }),
    },
    { name: 'open exchanges', open: () => new OpenExchanges({ maxPerKey: 10, logger }) },
    {
      name: 'unresponsive upstreams',
      open: () => new UnresponsiveUpstreams({ probeAfterMs: 4 * EVERY_MS, logger }),
    },
    {
      name: 'last use recorder',
      open: () => new LastUseRecorder({ prisma: nothingIsUsed, logger }),
    },
    { name: 'reconciler', open: () => reconciler(pool) },
  ];
}

/** Opens a reconciler with no deployment to work on. */
function reconciler(pool: pg.Pool) {
  const store = {
    allIds: async () => (await pool.query<{ id: string }>('SELECT 1 AS id WHERE false')).rows.map(({ id }) => id),
  };
  const opened = new Reconciler({
    store,
    workOn: () => ({}) as never,
    ownership: new LeasedOwnership({ pool, leaseOwner: randomUUID(), leaseMs: 4 * EVERY_MS }),
    sweepMs: EVERY_MS,
    logger,
  });
  return { start: () => opened.start(), stop: () => opened.stop(0) };
}
