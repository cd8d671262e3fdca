import { findDeploymentByUrl, getRoutes, isUuid, type LocatedDeployment } from '@runyard/contracts';
import type { HostNames } from '@runyard/deployments';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { routeOf } from '../events/deployment-events.ts';
import type { Deployment, PrismaClient } from '../generated/client.ts';

/** Serves the routes of all deployments, which the gateway loads before it follows the events, and of one by its URL. */
export function routeRoutes(prisma: PrismaClient, hosts: HostNames): BoundOperation[] {
  const currentRouteOf = (row: Deployment) => {
    const route = routeOf(row);
    return isReachedByName(hosts, row) ? route : { ...route, custom_host: null };
  };
  return [
    bind(getRoutes, async () => {
      const rows = await prisma.deployment.findMany({
        where: { deleteRequestedAt: null },
        orderBy: { createdAt: 'asc' },
      });
      return ok({ routes: rows.map(currentRouteOf) });
    }),
    bind(findDeploymentByUrl, async ({ body }) => ok({ deployment: await findByUrl(prisma, hosts, body.url) })),
  ];
}

/** Returns whether its custom host leads to it: not any more when the settings give that name to nobody or another. */
function isReachedByName(hosts: HostNames, { customHost, workspaceId }: Deployment): boolean {
  return customHost !== null && hosts.isAllowedHost(customHost, workspaceId);
}

async function findByUrl(prisma: PrismaClient, hosts: HostNames, url: string): Promise<LocatedDeployment | null> {
  const address = hosts.locate(url);
  if (!address) return null;
  const row = await prisma.deployment.findFirst({ where: { ...identifiedBy(address), deleteRequestedAt: null } });
  if (!row || ('customHost' in address && !isReachedByName(hosts, row))) return null;
  const { deployment_id, name, workspace_id, organization_id, has_custom_auth, mount_prefix = null } = routeOf(row);
  const path = address.path === '/' ? '' : address.path;
  return { deployment_id, name, workspace_id, organization_id, has_custom_auth, mount_prefix, path };
}

function identifiedBy(address: NonNullable<ReturnType<HostNames['locate']>>) {
  if ('customHost' in address) return { customHost: address.customHost };
  const { reference } = address;
  return isUuid(reference) ? { id: reference.toLowerCase() } : { slug: reference };
}
