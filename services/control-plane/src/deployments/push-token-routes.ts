import { createPushToken, type PushToken, type PushTokenRequest } from '@runyard/contracts';
import { bindCreation, boundFor, type IdempotencyKeys, withIdempotencyKey } from '@runyard/idempotency';
import { REGISTRY_USER } from '@runyard/image-registry';
import { BadRequestError, type BoundOperation, ok, type Principal, tenantOf } from '@runyard/service-kit';
import type { Database, Queries } from '../database/database.ts';
import type { Registry } from '../image-registry/registry.ts';
import { deploymentBeingDeleted } from '../revisions/deployment-errors.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';

/** Long enough to push a large image over a slow line, and to retry. */
const LIFETIME_MS = 3_600_000;

export function pushTokenRoutes(database: Database, registry: Registry, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bindCreation(keys, createPushToken, ok, ({ caller, params, body }, keyed) =>
      database.transact(
        // A token that is repeated for the same idempotency key is valid for at least half of its lifetime.
        withIdempotencyKey(boundFor(keyed, LIFETIME_MS / 2), (transaction) =>
          issue(transaction, registry, caller, params.deployment_id.toLowerCase(), body),
        ),
      ),
    ),
  ];
}

async function issue(
  queries: Queries,
  { address, tokens }: Registry,
  caller: Principal,
  deploymentId: string,
  request: PushTokenRequest,
): Promise<PushToken> {
  const tenant = tenantOf(caller);
  const deployment = await deploymentStore.get(queries, tenant, deploymentId);
  if (deployment.source !== 'internal_docker') {
    throw new BadRequestError("Push tokens are only available for 'internal_docker' source deployments.", {
      code: 'source_unsuitable',
    });
  }
  if (deployment.deleteRequestedAt) throw deploymentBeingDeleted(deploymentId);
  // The answer has no `repository_url`, which clients would use instead of the image's given name.
  return {
    token: tokens.issue({ deploymentId, mayPush: true }, LIFETIME_MS),
    registry_url: address.imagesOf(deploymentId),
    ...(request.supports_registry_username && { username: REGISTRY_USER }),
  };
}
