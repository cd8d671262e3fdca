import { getRoutes } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { routeOf } from '../events/deployment-events.ts';
import type { PrismaClient } from '../generated/client.ts';

/** Where every deployment can be reached: what the gateway loads before it follows the events. */
export function routeRoutes(prisma: PrismaClient): BoundOperation[] {
  return [
    bind(getRoutes, async () => {
      const rows = await prisma.deployment.findMany({
        where: { deleteRequestedAt: null },
        orderBy: { createdAt: 'asc' },
      });
      return ok({ routes: rows.map(routeOf) });
    }),
  ];
}
