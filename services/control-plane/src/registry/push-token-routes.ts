import { createPushToken, type PushToken, type PushTokenRequest } from '@runyard/contracts';
import { BadRequestError, type BoundOperation, bind, NotFoundError, ok, type Principal } from '@runyard/service-kit';
import { tenantOf } from '../deployments/caller-scope.ts';
import { deploymentStore } from '../deployments/deployment-store.ts';
import type { PrismaClient } from '../generated/client.ts';
import type { Registry } from './registry.ts';
import { REGISTRY_USER } from './registry-address.ts';

/** Time to push a large image over a slow line, and to try again. */
const LIFETIME_MS = 3_600_000;

export function pushTokenRoutes(prisma: PrismaClient, registry: Registry): BoundOperation[] {
  return [
    bind(createPushToken, async ({ caller, params, body }) =>
      ok(await issue(prisma, registry, caller, params.deployment_id.toLowerCase(), body)),
    ),
  ];
}

async function issue(
  prisma: PrismaClient,
  { address, tokens }: Registry,
  caller: Principal,
  deploymentId: string,
  wishes: PushTokenRequest,
): Promise<PushToken> {
  const tenant = tenantOf(caller, 'deployments:update');
  const deployment = await deploymentStore.find(prisma, tenant, deploymentId);
  if (!deployment) throw new NotFoundError(`Deployment ID ${deploymentId} not found.`);
  if (deployment.source !== 'internal_docker') {
    throw new BadRequestError("Push tokens are only available for 'internal_docker' source deployments.");
  }
  if (deployment.deleteRequestedAt) throw new BadRequestError(`Deployment ID ${deploymentId} is being deleted.`);
  // No `repository_url`, which clients would take instead of the name that they were given for the image.
  return {
    token: tokens.issue({ deploymentId, mayPush: true }, LIFETIME_MS),
    registry_url: address.imagesOf(deploymentId),
    ...(wishes.supports_registry_username && { username: REGISTRY_USER }),
  };
}
