import { getRoutes } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { HostNames } from '../deployments/host-names.ts';
import { routeOf } from '../events/deployment-events.ts';
import type { Deployment, PrismaClient } from '../generated/client.ts';

/** Serves the routes of all deployments, which the gateway loads before it follows the events. */
export function routeRoutes(prisma: PrismaClient, hosts: HostNames): BoundOperation[] {
  // A custom host ceases to be routed when the operator removes its domain from the settings.
  const currentRouteOf = (row: Deployment) => {
    const route = routeOf(row);
    return row.customHost === null || hosts.isAllowedHost(row.customHost) ? route : { ...route, custom_host: null };
  };
  return [
    bind(getRoutes, async () => {
      const rows = await prisma.deployment.findMany({
        where: { deleteRequestedAt: null },
        orderBy: { createdAt: 'asc' },
      });
      return ok({ routes: rows.map(currentRouteOf) });
    }),
  ];
}
